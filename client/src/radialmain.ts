/** Starts the radial picture in each element of the page that names its block. */

import { held, read, unpacked } from "./blocks";
import { RadialPage } from "./radial";
import { type Kind, RadialData } from "./radialdata";

async function show(place: HTMLElement): Promise<void> {
  const packed = held(place.dataset["block"] ?? "");
  if (!packed) throw new Error("its data are missing. Copy all files, not only the page.");
  const page = new RadialPage(place, RadialData.of(read(await unpacked(packed))));
  await page.begin();
  place.dataset["ready"] = String(Math.round(performance.now()));
  // A click on an element that names nodes, anywhere in the page, lights their edges.
  document.addEventListener("click", (event) => {
    const named = (event.target as Element).closest<HTMLElement>("[data-nodes]")?.dataset;
    if (named) void page.lightNamed(named["nodes"]!.split(" "), named["op"], named["metric"], named["rings"]?.split(",") as Kind[] | undefined);
  });
}

function begin(): void {
  for (const place of document.querySelectorAll<HTMLElement>(".radial[data-block]")) {
    show(place).catch((error: unknown) => place.append(`The circle cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
