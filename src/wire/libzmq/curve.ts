/**
 * CURVE, ZeroMQ's encryption: a client knows the server's public key, each side proves that it has its own secret key, and all
 * that follows is encrypted. Keys are Z85 text of 40 characters. Not every libzmq is built with it.
 */

import { CURVE_KEY_CHARACTERS } from "#domain";
import { lastZmqError, toCString } from "./binding.ts";
import { loadLibzmq } from "./locate.ts";

export interface CurveKeyPair {
  publicKey: string;
  /** In no message, log line or answer. */
  secretKey: string;
}

/** The side that connects. */
export interface CurveClient extends CurveKeyPair {
  role: "client";
  /** Public key of the other side. */
  serverKey: string;
}

/** The side whose public key the others know; it takes every client whose handshake is right. */
export interface CurveServer {
  role: "server";
  secretKey: string;
}

export type CurveSide = CurveClient | CurveServer;

/** The libzmq that is loaded has no CURVE. */
export class CurveUnavailableError extends Error {
  override readonly name = "CurveUnavailableError";

  constructor() {
    super(`Cannot encrypt: ${JSON.stringify(loadLibzmq().path)} has no CURVE, a libzmq that was built with it is needed`);
  }
}

/** What encryption adds to a frame: its command's name and flags (9), a nonce (8) and an authenticator (16). */
const FRAME_OVERHEAD_BYTES = 33;

/** The handshake's commands count as frames too: its longest has 257 bytes and some properties of the peer. */
const HANDSHAKE_BYTES_MAX = 1024;

/** The size on the wire of what is a frame of `frameBytes` in the clear; no smaller than what the handshake needs. */
export function encryptedBytes(frameBytes: number): number {
  return Math.max(frameBytes + FRAME_OVERHEAD_BYTES, HANDSHAKE_BYTES_MAX);
}

/** Whether the libzmq that is loaded has CURVE. Throws LibzmqNotFoundError. */
export function hasCurve(): boolean {
  return loadLibzmq().functions.zmq_has(toCString("curve")) === 1;
}

/** A fresh key pair. Throws CurveUnavailableError. */
export function createCurveKeyPair(): CurveKeyPair {
  requireCurve();
  const [publicKey, secretKey] = [newKey(), newKey()];
  const { functions } = loadLibzmq();
  if (functions.zmq_curve_keypair(publicKey, secretKey) !== 0) throw lastZmqError(functions, "create CURVE keys");
  return { publicKey: keyText(publicKey), secretKey: keyText(secretKey) };
}

/** The pair of a secret key, which `isCurveKey` accepts. Throws CurveUnavailableError. */
export function curveKeyPairOf(secretKey: string): CurveKeyPair {
  requireCurve();
  const publicKey = newKey();
  const { functions } = loadLibzmq();
  if (functions.zmq_curve_public(publicKey, toCString(secretKey)) !== 0) throw lastZmqError(functions, "read a CURVE key");
  return { publicKey: keyText(publicKey), secretKey };
}

function requireCurve(): void {
  if (!hasCurve()) throw new CurveUnavailableError();
}

/** Room for a key and the zero behind it. */
function newKey(): Uint8Array {
  return new Uint8Array(CURVE_KEY_CHARACTERS + 1);
}

function keyText(key: Uint8Array): string {
  return new TextDecoder().decode(key.subarray(0, CURVE_KEY_CHARACTERS));
}
