/** Turns each section of the page that names a trace into an explorer. */

import { Explorer } from "./explorer";
import { aboutOf } from "./source";

function begin(): void {
  for (const section of document.querySelectorAll<HTMLElement>("section.explorer[data-trace]")) {
    const explorer = new Explorer(section, aboutOf(section));
    void explorer.choose({}).then(() => {
      section.dataset["ready"] = String(Math.round(performance.now()));
    });
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
