// SPDX-License-Identifier: Apache-2.0
// The audit, for those who may see it.

import { ApiError, ask } from "./api.js";
import { announce, el, fill, said, table } from "./dom.js";
import { errorMessage, message } from "./messages.js";
import { decimal, named, t } from "./words.js";

const SHOWN = 10;

export async function auditView(main, state) {
  const body = el("div", {});
  fill(main, el("div", { class: "page wide" }, el("h1", {}, t("audit.title")), el("p", { class: "lead" }, t("audit.lead")), body));
  if (!state.facts.sees_all_groups) {
    fill(body, message("note", null, t("audit.closed")));
    return;
  }
  fill(body, el("p", { class: "working" }, t("audit.working")));
  announce(t("audit.working"));
  try {
    const answer = await ask("audit");
    fill(body, verdict(answer, () => auditView(main, state)), checks(answer), findings(answer));
    announce(verdictText(answer));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 401) state.unauthorised(error);
    else fill(body, errorMessage(error, () => auditView(main, state)));
  }
}

function verdictText(answer) {
  const failed = answer.checks.filter((check) => check.status === "failed").length;
  return answer.passed ? t("audit.passed") : t("audit.failed", { n: failed });
}

function verdict(answer, again) {
  return message(answer.passed ? "found" : "error", verdictText(answer),
    el("p", {}, el("button", { type: "button", class: "quiet", on: { click: again } }, t("audit.again"))));
}

function checks(answer) {
  const rows = answer.checks.map((check) => {
    const found = check.failures + check.notices;
    return [check.check, check.corpus ?? t("audit.database"),
      el("span", { class: `state state-${check.status}` }, named("state", check.status)),
      decimal(check.looked_at), found ? decimal(found) : ""];
  });
  const heads = ["check", "corpus", "state", "looked", "found"].map((key) => t(`audit.${key}`));
  return table(t("audit.title"), heads, rows, new Set([3, 4]));
}

function findings(answer) {
  const told = answer.checks.filter((check) => check.findings.length > 0 || check.note);
  if (told.length === 0) return null;
  return el("section", { class: "findings" }, el("h2", {}, t("audit.findings")), told.map((check) => {
    const more = check.failures + check.notices - Math.min(check.findings.length, SHOWN);
    return [
      el("h3", {}, check.check, check.corpus ? ` · ${check.corpus}` : ""),
      check.note ? said(check.note, "p", { class: "hint" }) : null,
      el("ul", {}, check.findings.slice(0, SHOWN).map((finding) => el("li", {},
        el("span", { class: `state state-${finding.notice ? "notice" : "failed"}` }, named("state", finding.notice ? "notice" : "failed")),
        " ", said(finding.subject, "strong"), ": ", said(finding.reason),
        el("br"), said(finding.mend, "span", { class: "hint" })))),
      more > 0 ? el("p", { class: "hint" }, t("audit.more", { n: decimal(more) })) : null,
    ];
  }));
}
