/** Turns each place of the page that names a trace into an explorer. */

import { Explorer } from "./explorer";
import { aboutOf } from "./source";

async function show(place: HTMLElement): Promise<void> {
  const about = await aboutOf(place.dataset["trace"] ?? "");
  const explorer = new Explorer(place, about);
  // Who follows a link to a finding sees what it is about.
  await explorer.showFinding(decodeURIComponent(location.hash.slice(1)));
  place.dataset["ready"] = String(Math.round(performance.now()));
  // Anywhere in the page, what names a finding shows it.
  document.addEventListener("click", (event) => {
    const code = (event.target as Element).closest<HTMLElement>("[data-highlight]")?.dataset["highlight"];
    if (code !== undefined) void explorer.showFinding(code);
  });
}

function begin(): void {
  for (const place of document.querySelectorAll<HTMLElement>(".explorer[data-trace]")) {
    show(place).catch((error: unknown) => place.append(`The trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
