/** The colours of the steps of a scale: `s0` to `s14` from quiet to loud, `d0` to `d14` from orange over quiet to blue. */
import { css, type CSSResult } from "lit";
import { STEPS } from "./scale.js";

type Colour = readonly [red: number, green: number, blue: number];

/** As cividis, which all see alike, but beginning at the colour of the page. */
const SEQUENTIAL: Record<"light" | "dark", readonly Colour[]> = {
  light: [[252, 250, 238], [240, 226, 150], [212, 190, 104], [165, 156, 116], [112, 113, 115], [59, 73, 108], [0, 34, 78]],
  dark: [[17, 24, 34], [24, 44, 92], [59, 73, 108], [112, 113, 115], [165, 156, 116], [225, 204, 85], [254, 232, 56]],
};
const DIVERGING: Record<"light" | "dark", readonly Colour[]> = {
  light: [[168, 72, 8], [222, 130, 62], [247, 204, 164], [246, 247, 246], [170, 205, 238], [72, 138, 200], [20, 78, 140]],
  dark: [[255, 168, 92], [190, 104, 42], [92, 56, 32], [26, 30, 33], [32, 62, 94], [58, 122, 186], [132, 194, 255]],
};

function between(stops: readonly Colour[], share: number): Colour {
  const at = share * (stops.length - 1);
  const [from, to] = [stops[Math.floor(at)]!, stops[Math.ceil(at)]!];
  const mix = (channel: 0 | 1 | 2) => Math.round(from[channel] + (to[channel] - from[channel]) * (at - Math.floor(at)));
  return [mix(0), mix(1), mix(2)];
}

/** Relative luminance, as WCAG has it. */
function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((channel) => (channel <= 10 ? channel / 3294 : ((channel / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever is told better from the colour. */
function inkOn(colour: Colour): Colour {
  const light = luminance(colour);
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? [255, 255, 255] : [0, 0, 0];
}

const rgb = ([red, green, blue]: Colour): CSSResult => css`rgb(${red} ${green} ${blue})`;

export const scaleStyles: CSSResult[] = Array.from({ length: STEPS }, (_, step) => {
  const share = step / (STEPS - 1);
  const rule = (stops: typeof SEQUENTIAL, name: CSSResult) => {
    const [light, dark] = [between(stops.light, share), between(stops.dark, share)];
    return css`
      .${name}${step} {
        --step: light-dark(${rgb(light)}, ${rgb(dark)});
        --step-ink: light-dark(${rgb(inkOn(light))}, ${rgb(inkOn(dark))});
      }
    `;
  };
  return [rule(SEQUENTIAL, css`s`), rule(DIVERGING, css`d`)];
}).flat();
