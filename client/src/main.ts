/** Turns each section of the page that names a trace into an explorer. */

import { Explorer } from "./explorer";
import { aboutOf } from "./source";

function begin(): void {
  for (const section of document.querySelectorAll<HTMLElement>("section.explorer[data-trace]")) {
    const explorer = new Explorer(section, aboutOf(section));
    void explorer.choose({}).then(() => {
      section.dataset["ready"] = String(Math.round(performance.now()));
    });
    // Anywhere in the page, what names a finding shows it.
    document.addEventListener("click", (event) => {
      const code = (event.target as Element).closest<HTMLElement>("[data-highlight]")?.dataset["highlight"];
      if (code !== undefined) void explorer.showFinding(code);
    });
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
