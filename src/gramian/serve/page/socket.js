// A web socket that comes back by itself. Requests are JSON; an answer is binary: the length of the head, the
// head (JSON), then the arrays that the head lists.

export function decoded(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let offset = 4 + length;
  const arrays = {};
  for (const [name, kind, size] of facts.arrays) {
    arrays[name] = new (kind === "i" ? Int32Array : Float32Array)(buffer, offset, size);
    offset += 4 * size;
  }
  return { ...facts, ...arrays };
}

export class Socket {
  // onAnswer(answer) gets what nobody waits for; onState(open) is called when the connection comes and goes.
  constructor(path, onAnswer, onState) {
    Object.assign(this, { path, onAnswer, onState, turn: 0, waiting: new Map(), pause: 200 });
    this.open();
  }

  open() {
    const url = new URL(this.path, location.href.replace(/^http/, "ws"));
    url.hash = "";
    this.link = new WebSocket(url);
    this.link.binaryType = "arraybuffer";
    this.link.onopen = () => { this.pause = 200; this.onState(true); };
    this.link.onmessage = ({ data }) => this.receive(decoded(data));
    this.link.onclose = () => {
      for (const waiter of this.waiting.values()) waiter(null);
      this.waiting.clear();
      this.onState(false);
      setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(2 * this.pause, 2000);
    };
  }

  receive(answer) {
    const waiter = this.waiting.get(answer.turn);
    this.waiting.delete(answer.turn);
    (waiter ?? this.onAnswer)(answer);
  }

  // Calls then(answer) as soon as the answer is there: no promise, so that it is drawn in the same task.
  ask(request, then) {
    if (this.link.readyState !== WebSocket.OPEN) return then(null);
    this.waiting.set(++this.turn, then);
    this.link.send(JSON.stringify({ ...request, turn: this.turn }));
  }

  get idle() { return this.waiting.size === 0; }
}
