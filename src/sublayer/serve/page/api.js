// What the page asks of the server. Failed is thrown with what the server said.
export class Failed extends Error {
  constructor(status, said) {
    super(said.error);
    this.status = status;
    this.problems = said.problems ?? [];
  }
}

let key = "";
export const setKey = (given) => { key = given.trim(); };

async function call(path, asked, signal) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const post = { method: "POST", body: JSON.stringify(asked) };
  if (asked) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { headers, signal, cache: "no-store", ...(asked ? post : {}) });
  if (response.ok) return response;
  const said = await response.json().catch(() => ({ error: `${response.status} ${response.statusText}` }));
  throw new Failed(response.status, said);
}

export const models = async () => (await (await call("models")).json()).models;

export const predict = async (asked, signal) => (await (await call("predict", asked, signal)).json()).answers;

export const attention = async (asked, signal) => (await (await call("attention", asked, signal)).json()).attention;

// The server-sent events of an answer: [kind, data], as they come.
export async function* stream(asked, signal) {
  const reader = (await call("stream", asked, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const [kind, data] = event.split("\n").map((line) => line.slice(line.indexOf(": ") + 2));
      if (kind === "error") throw new Failed(200, JSON.parse(data));
      yield [kind, JSON.parse(data)];
    }
  }
}
