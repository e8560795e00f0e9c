// Prints the number of each line of FILE that BUNDLE does not take: ajv, compiled.
//
//   node ajv.mjs BUNDLE FILE
import { createReadStream, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

// The package lies where .ci/tools has put it, not beside this file.
const require = createRequire(join(process.env.QUIPU_NODE_MODULES ?? process.cwd(), "x.js"));
const { default: Ajv } = require("ajv/dist/2020.js");

const [bundle, file] = process.argv.slice(2);
const ajv = new Ajv({ strict: false });
const validate = ajv.compile(JSON.parse(readFileSync(bundle, "utf8")));
let number = 0;
for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
  number += 1;
  if (!validate(JSON.parse(line))) console.log(number);
}
