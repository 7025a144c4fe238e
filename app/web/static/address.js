// SPDX-License-Identifier: Apache-2.0
// What is shown stands in the address, behind the '#': it can be sent to somebody, and the server's logs never see it.

export const VIEWS = ["search", "pipeline", "audit", "reports"];

/** `{view, params}` of an address such as `#/search?corpus=knowledge&q=notice`. */
export function readAddress() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const view = VIEWS.includes(path) ? path : "search";
  return { view, params: new URLSearchParams(query) };
}

/** The address of a view. */
export function addressOf(view, params = new URLSearchParams()) {
  const query = params.toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

/** What a search asks, as it stands in an address. Only what differs from the usual is written down. */
export function searchParams({ corpus, query, topK, names, rerank, scope }) {
  const params = new URLSearchParams({ corpus, q: query });
  if (topK !== 10) params.set("n", String(topK));
  if (!names) params.set("names", "off");
  if (!rerank) params.set("rerank", "off");
  for (const [key, value] of Object.entries(scope)) if (value) params.set(`scope.${key}`, value);
  return params;
}

/** The reverse. */
export function searchOf(params) {
  const topK = Number.parseInt(params.get("n") ?? "10", 10);
  const scope = {};
  for (const [key, value] of params) if (key.startsWith("scope.") && value) scope[key.slice(6)] = value;
  return {
    corpus: params.get("corpus") ?? "",
    query: params.get("q") ?? "",
    topK: topK >= 1 && topK <= 100 ? topK : 10,
    names: params.get("names") !== "off",
    rerank: params.get("rerank") !== "off",
    scope,
  };
}
