// The few parts of Node.js that the programs here use, so that they need no package of types.
declare module "node:fs" {
  export function readFileSync(file: number, encoding: "utf8"): string;
}
declare const process: { argv: string[]; stdout: { write(text: string): void } };
