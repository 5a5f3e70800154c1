"""Saadi, Talbot and Cawley: optimally regularised kernel Fisher discriminant analysis."""

from evidence.published._table import read_table

# Table 1: means and deviations of test errors in % over 100 partitions (20 for image and splice).
TABLE_1 = read_table(
    """
    data              | ORKFD      | KFD        | SVM
    ida_banana        | 10.49±0.54 | 10.75±0.45 | 11.53±0.66
    ida_breast_cancer | 26.41±4.91 | 24.77±4.63 | 26.04±4.74
    ida_diabetis      | 23.19±1.92 | 23.21±1.63 | 23.53±1.73
    ida_german        | 23.61±1.93 | 23.71±2.20 | 23.61±2.07
    ida_heart         | 16.19±3.37 | 16.14±3.39 | 15.95±3.26
    ida_image         | 3.62±0.68  | 4.76±0.58  | 2.96±0.60
    ida_ringnorm      | 1.47±0.11  | 1.49±0.12  | 1.66±0.12
    ida_flare_solar   | 34.39±1.73 | 33.16±1.72 | 32.43±1.82
    ida_splice        | 10.92±0.73 | 10.52±0.64 | 10.88±0.66
    ida_thyroid       | 4.65±2.18  | 4.20±2.07  | 4.80±2.19
    ida_titanic       | 22.39±1.03 | 23.25±2.05 | 22.42±1.02
    ida_twonorm       | 2.54±0.32  | 2.61±0.15  | 2.96±0.23
    ida_waveform      | 9.79±0.42  | 9.86±0.44  | 9.88±0.43
    """
)
