/** The dashboard: connects to the live feed, and shows what it tells. */

import type { DecisionEntry } from "#http";
import { Charts } from "./charts.ts";
import { decisionsView } from "./decisions-view.ts";
import { demoView } from "./demo-notice.ts";
import { byId, show } from "./element.ts";
import { startExplorer } from "./explorer.ts";
import { fleetView } from "./fleet-view.ts";
import { type Connection, Live } from "./live.ts";
import { Model } from "./model.ts";
import { noticesView, summaryView } from "./summary-view.ts";
import { startTheme } from "./theme.ts";

const model = new Model();
const content = byId("content");
let charts: Charts | null = null;
/** Null while decisions are shown as they come. */
let held: readonly DecisionEntry[] | null = null;
let isAll = false;

const live = new Live({
  received(message) {
    model.receive(message);
    showModel();
  },
  connectionChanged: showConnection,
});

function showModel(): void {
  content.hidden = false;
  show(byId("notices"), ...noticesView(model), ...demoView(model.fleet?.instances ?? []));
  show(byId("summary"), ...summaryView(model));
  show(byId("fleet-view"), ...fleetView(model));
  show(byId("decisions-view"), ...decisionsView({ decisions: held ?? model.decisions, isAll }));
  // The charts measure the place they have, which is there only now.
  charts ??= new Charts();
  charts.update(model);
}

function showConnection(connection: Connection): void {
  const status = byId("connection");
  status.className = connection.kind;
  const text = describeConnection(connection);
  if (status.textContent !== text) status.textContent = text;
  content.classList.toggle("stale", connection.kind !== "live");
  const token = byId("token");
  const isTokenNeeded = connection.kind === "token-needed";
  if (isTokenNeeded) {
    byId("token-error").textContent = connection.wasWrong ? "That is another token." : "";
    content.hidden = true;
  }
  if (isTokenNeeded && token.hidden) {
    token.hidden = false;
    byId("token-input").focus();
  }
  if (connection.kind === "live") token.hidden = true;
}

function describeConnection(connection: Connection): string {
  switch (connection.kind) {
    case "connecting":
      return "Connecting";
    case "live":
      return "Live";
    case "lost":
      return `Not live: ${connection.reason}`;
    case "token-needed":
      return "Token needed";
  }
}

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const input = byId<HTMLInputElement>("token-input");
  void live.open(input.value);
  input.value = "";
});

startToggle("hold", (isOn) => {
  held = isOn ? model.decisions : null;
});
startToggle("show-all", (isOn) => {
  isAll = isOn;
});

function startToggle(id: string, toggled: (isOn: boolean) => void): void {
  const button = byId(id);
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") === "false";
    button.setAttribute("aria-pressed", String(isOn));
    toggled(isOn);
    showModel();
  });
}

startTheme(() => charts?.redraw());
startExplorer(() => live.headers);
void live.open("");
