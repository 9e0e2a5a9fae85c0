// `node --import …/resolve.js mybot.mjs`: a bot of a single file, anywhere, may import "referee-kit/…" as if the kit were
// installed beside it.

import { register } from "node:module";

const hooks = `
    export async function resolve(specifier, context, next) {
        const isOurs = specifier === "referee-kit" || specifier.startsWith("referee-kit/");
        return next(specifier, isOurs ? { ...context, parentURL: ${JSON.stringify(import.meta.url)} } : context);
    }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
