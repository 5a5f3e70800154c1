"""Duan, Li, He and Zeng: decremental learning for Lagrangian and least squares SVMs."""

from evidence.published._table import read_table

# §4: exp(−‖x − y‖²/2σ²) with σ = 2, C = 1/m, λ = 1.9/C, precision 10⁻⁵.
SIGMA = 2.0
STEP = 1.9
PRECISION = 1e-5

# Tables 1 (k = 1, online) and 2 (k = 20 and 50, batch): seconds in MATLAB on a Pentium IV.
# "direct" inverts the matrix of what is left, "decremental" takes the samples out of the inverse.
TABLES_1_AND_2 = read_table(
    """
    data, m, k              | LSVM direct | LSVM decremental | LSSVM direct | LSSVM decremental
    ida_thyroid, 140, 1     | 1.40625     | 1.39065          | 1.54688      | 1.53128
    ida_thyroid, 140, 20    | 1.34375     | 1.26565          | 1.20313      | 1.12503
    ida_thyroid, 140, 50    | 1.375       | 1.3125           | 0.7343       | 0.6718
    ida_ringnorm, 400, 1    | 11.3281     | 11.2812          | 11.9844      | 11.9375
    ida_ringnorm, 400, 20   | 11.1563     | 11.0157          | 10.7344      | 10.5938
    ida_ringnorm, 400, 50   | 11.1563     | 11.0625          | 9.25         | 9.1562
    ida_german, 720, 1      | 35.4688     | 35.1407          | 36.25        | 35.9219
    ida_german, 720, 20     | 34.3594     | 34.00            | 3.1563       | 33.7969
    ida_german, 720, 50     | 34.9844     | 34.6719          | 31.3438      | 31.0313
    ida_splice, 1000, 1     | 76.0781     | 75.25            | 111.063      | 110.2349
    ida_splice, 1000, 20    | 75.2188     | 74.4063          | 104.094      | 103.2815
    ida_splice, 1000, 50    | 75.0469     | 74.3438          | 98.6094      | 97.9063
    ida_image, 1300, 1      | 122.438     | 120.6411         | 125.547      | 123.7501
    ida_image, 1300, 20     | 120.5       | 118.7344         | 120.156      | 118.3904
    ida_image, 1300, 50     | 122.125     | 120.5156         | 116.078      | 114.4686
    ida_image, 2020, 1      | 289.326     | 282.4934         | 292.321      | 285.4884
    ida_image, 2020, 20     | 287.531     | 280.8591         | 273.766      | 267.0941
    ida_image, 2020, 50     | 281.109     | 275.0184         | 262.656      | 257.7654
    """
)
