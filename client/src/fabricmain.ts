/** Starts the picture of a fabric in the element of the page that names its parts. */

import { partOf } from "./blocks";
import { FabricPage } from "./fabric";
import { Fabric } from "./fabricdata";

async function show(place: HTMLElement): Promise<void> {
  const load = (name: string): ReturnType<typeof partOf> => partOf(name, (place.dataset["parts"] ?? "").replace("{}", name));
  const page = new FabricPage(place, new Fabric(await load("fabric"), load));
  await page.begin();
  place.dataset["ready"] = String(Math.round(performance.now()));
}

const place = document.querySelector<HTMLElement>(".fabric[data-parts]");
if (place) show(place).catch((error: unknown) => place.append(`The fabric cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
