/** That of package.json, which a page cannot read. A test holds them equal. */
export const VERSION = "0.1.0";
