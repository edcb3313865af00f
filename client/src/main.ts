/** Starts an explorer in each element of the page that names a trace. */

import { type Asked, ASKED, type Choice, CHOSEN } from "./dom";
import { Explorer } from "./explorer";
import type { Requests } from "./moved";
import { aboutOf } from "./source";
import { isAsked } from "./state";

async function show(place: HTMLElement): Promise<Explorer> {
  const about = await aboutOf(place.dataset["trace"] ?? "");
  const explorer = new Explorer(place, about, place.dataset["prefix"]);
  // A link to a finding opens the page with its requests highlighted, one to a view with what was seen.
  await explorer.open(location.hash);
  place.dataset["ready"] = String(Math.round(performance.now()));
  window.addEventListener("hashchange", () => isAsked(explorer.addressed(location.hash)) && void explorer.open(location.hash));
  // A click on an element that names a finding, anywhere in the page, highlights its requests.
  document.addEventListener("click", (event) => {
    const code = (event.target as Element).closest<HTMLElement>("[data-highlight]")?.dataset["highlight"];
    if (code !== undefined) void explorer.showFinding(code);
  });
  document.addEventListener(CHOSEN, (event) => void explorer.showChoice((event as CustomEvent<Choice>).detail));
  return explorer;
}

function begin(): void {
  const places = [...document.querySelectorAll<HTMLElement>(".explorer[data-trace]")];
  const all = places.map(show);
  // Two runs on one page are shown on one scale.
  if (all.length === 2) {
    Promise.all(all).then(
      ([first, second]) => {
        first!.partner = second;
        second!.partner = first;
      },
      () => undefined,
    );
  }
  for (const [at, place] of places.entries()) {
    const shown = all[at]!;
    shown.catch((error: unknown) => place.append(`The trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
    // Listens from the start: others may ask before the trace is shown.
    document.addEventListener(ASKED, (event) => {
      (event as CustomEvent<Asked<Requests>>).detail.requests = shown.then(
        (explorer) => explorer.requests(),
        () => undefined,
      );
    });
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
