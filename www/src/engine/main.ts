/** The worker of the viewer. */
import { expose } from "comlink";
import { WorkerEngine } from "./engine.js";
import { failureOf } from "./errors.js";

/** Failures go to the page as plain data: an error would lose its code. */
const inWords: ProxyHandler<WorkerEngine> = {
  get(engine, name) {
    const method = Reflect.get(engine, name) as unknown;
    if (typeof method !== "function") return method;
    return async (...given: unknown[]) => {
      try {
        return await method.apply(engine, given);
      } catch (error) {
        throw failureOf(error);
      }
    };
  },
};

expose(new Proxy(new WorkerEngine(), inWords));
