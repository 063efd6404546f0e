/** Objects that live in the worker. */
import { Token2TextError } from "./errors.js";
import { isStarted, nextId, post, send, start, workerNumber } from "./worker-connection.js";

/** Frees objects in the worker that nobody refers to here. @type {FinalizationRegistry<Remote>} */
const forgotten = new FinalizationRegistry((remote) => remote.free());

/** An object in the worker, which is made again in the next one. */
export class Remote {
  #handle = nextId();
  #make;
  /** The worker it is made in, or is being made in; 0: none. */
  #worker = 0;
  /** @type {Promise<unknown> | undefined} */
  #made;
  #isThere = false;
  #holds = 0;
  /** Whether its owner has given it up; others may still need it to make something of it. */
  isFreed = false;

  /** @param {(handle: number) => Promise<unknown>} make Makes the object in the running worker under a handle. */
  constructor(make) {
    this.#make = make;
  }

  /**
   * This, unless its owner has given it up.
   *
   * @param {string} name Of the owner's class, for the message.
   * @param {string} cure How to make another.
   */
  alive(name, cure) {
    if (!this.isFreed) return this;
    throw new Token2TextError("freed", `this ${name} was freed; ${cure}`);
  }

  /** @param {object} owner When it is gone, so is this. */
  belongTo(owner) {
    forgotten.register(owner, this);
  }

  /**
   * The handle of the object, which exists then.
   *
   * @param {(handle: number) => Promise<unknown>} [make] Makes it in place of the usual way.
   * @returns {Promise<number>}
   */
  async handle(make = this.#make) {
    await start();
    if (this.#worker !== workerNumber()) {
      this.#worker = workerNumber();
      this.#isThere = false;
      this.#made = make(this.#handle);
    }
    const made = this.#made;
    try {
      await made;
      this.#isThere = true;
    } catch (error) {
      if (made === this.#made) this.#forget();
      throw error;
    }
    return this.#handle;
  }

  /**
   * Calls a method of the object; at once where it can be, so that what is done to the arguments later changes nothing.
   *
   * @param {string} method
   * @param {unknown[]} args
   * @param {(progress: any) => void} [onProgress]
   * @returns {Promise<any>}
   */
  call(method, args, onProgress) {
    if (isStarted() && this.#isThere && this.#worker === workerNumber()) {
      return send({ method, args, target: this.#handle, onProgress });
    }
    return this.#callWhenThere(method, args, onProgress);
  }

  /** @param {string} method @param {unknown[]} args @param {(progress: any) => void} [onProgress] */
  async #callWhenThere(method, args, onProgress) {
    this.hold();
    try {
      return await send({ method, args, target: await this.handle(), onProgress });
    } finally {
      this.release();
    }
  }

  /** Keeps the object, also if it is freed meanwhile, until `release`. */
  hold() {
    this.#holds++;
  }

  release() {
    this.#holds--;
    if (this.isFreed) this.free();
  }

  free() {
    this.isFreed = true;
    if (this.#holds === 0) this.#forget();
  }

  #forget() {
    if (this.#worker === workerNumber()) post({ free: this.#handle });
    this.#worker = 0;
  }
}
