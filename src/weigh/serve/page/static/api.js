// Requests to the server that this page comes from; there are no others.

export const root = new URL("../", import.meta.url);

const TOKEN_KEY = "weigh-token";

/** An answer that is not a success: its HTTP status and the server's sentence; 0 if there was no answer. */
export class Problem extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

export function hasToken() {
  return sessionStorage.getItem(TOKEN_KEY) !== null;
}

/** Keep a token until the tab is closed; null forgets it. */
export function setToken(token) {
  if (token === null) sessionStorage.removeItem(TOKEN_KEY);
  else sessionStorage.setItem(TOKEN_KEY, token);
}

async function send(path, options) {
  const headers = new Headers(options.headers);
  if (hasToken()) headers.set("Authorization", `Bearer ${sessionStorage.getItem(TOKEN_KEY)}`);
  try {
    return await fetch(new URL(path, root), { ...options, headers, cache: "no-store", redirect: "error" });
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new Problem(0, "The server does not answer. It may have been stopped, or the connection is lost.");
  }
}

async function readProblem(response) {
  try {
    const problem = await response.json();
    return new Problem(response.status, problem.detail || problem.title || response.statusText);
  } catch {
    return new Problem(response.status, `The server answered ${response.status} ${response.statusText}.`);
  }
}

/** Send a request and return the response; raise Problem if it is not a success. */
export async function request(path, options = {}) {
  const response = await send(path, options);
  if (!response.ok) throw await readProblem(response);
  return response;
}

export async function getJson(path) {
  return (await request(path)).json();
}

export async function postJson(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return (await request(path, { method: "POST", body: JSON.stringify(body), headers, signal })).json();
}

/** Return the path of a resource of a model in the API. */
export function modelPath(name, resource = "") {
  return `v1/models/${encodeURIComponent(name)}${resource && `/${resource}`}`;
}

/** Return the key of a change, which the server applies once however often it arrives. */
export function changeId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Post a change of the model; send it once more under the same id if the first answer is lost. */
export async function postChange(path, rows) {
  const body = { rows, id: changeId() };
  try {
    return await postJson(path, body);
  } catch (problem) {
    if (problem.status !== 0) throw problem;
    return postJson(path, body);
  }
}
