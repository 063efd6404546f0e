import { css } from "lit";

/** Of a scroller that `VirtualRows` draws in. */
export const virtualStyles = css`
  .scroller {
    position: relative;
    overflow: auto;
    overflow-anchor: none;
    contain: strict;
    overscroll-behavior: contain;
    outline-offset: -2px;
  }
  .scroller > .height {
    position: absolute;
    inset: 0 auto auto 0;
    width: 1px;
    visibility: hidden;
  }
  .scroller > .rows {
    position: absolute;
    inset: 0 0 auto 0;
    will-change: transform;
  }
`;
