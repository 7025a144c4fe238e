// SPDX-License-Identifier: Apache-2.0
// Talks to the server that sent this page, and to no other. The token lives as long as the tab, and in no address.

const KEY = "pincite.token";

/** An answer that is none: `status` of HTTP (0 when the server did not answer), and the line that says what is wrong. */
export class ApiError extends Error {
  constructor(status, detail, retryAfter = null) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export function hasToken() {
  return sessionStorage.getItem(KEY) !== null;
}

export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
}

export function forgetToken() {
  sessionStorage.removeItem(KEY);
}

/** Ask for JSON; `body` makes it a POST. */
export async function ask(path, { body, params, signal } = {}) {
  return (await request(path, { body, params, signal })).json();
}

/** Ask for a picture; an address of this page alone, to be given back with `URL.revokeObjectURL`. */
export async function picture(path, { body, params, signal } = {}) {
  return URL.createObjectURL(await (await request(path, { body, params, signal })).blob());
}

async function request(path, { body, params, signal }) {
  const headers = {};
  const token = sessionStorage.getItem(KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const address = params ? `${path}?${params}` : path;
  let response;
  try {
    response = await fetch(address, {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "");
  }
  if (!response.ok) throw await problem(response);
  return response;
}

async function problem(response) {
  let detail = response.statusText;
  try {
    detail = (await response.json()).detail ?? detail;
  } catch {
    // No problem document: something between here and the server answered.
  }
  const wait = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  return new ApiError(response.status, detail, Number.isNaN(wait) ? null : wait);
}
