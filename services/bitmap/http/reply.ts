import type { Context } from 'koa';
import type { RefusalBody } from '../../../platform/http/server/raw-refusal';
import { exactJson } from '../../../platform/json/exact';
import { errorResponse } from '../answers/messages';

/** A refusal with its status; the body is a plain text, unless its form is another one. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  /**
   * `text`: the message alone; `error`: `{"error": message}`; `envelope`: `{"success": false, "error": {message}}`, of
   * management calls; `protobuf`: an import or query response with only its error.
   */
  readonly form: 'text' | 'error' | 'envelope' | 'protobuf';
  readonly headers: Record<string, string>;

  constructor(
    readonly status: number,
    message: string,
    { form = 'text', headers = {} }: Partial<Pick<Refusal, 'form' | 'headers'>> = {},
  ) {
    super(message);
    this.form = form;
    this.headers = headers;
  }
}

/** The response when this service is at fault; the log has the rest. */
export const internalError = (): Refusal => new Refusal(500, 'internal error', { form: 'error' });

export const jsonType = 'application/json; charset=utf-8';

/** A response as it goes over the wire. */
export interface WireReply {
  status: number;
  type: string;
  body: string | Buffer;
}

/** The envelope for what is refused before any route. */
export const bitmapRefusalBody: RefusalBody = ({ message }) => ({
  type: jsonType,
  body: `${exactJson({ error: message })}\n`,
});

/** The response of a refusal, in its form. */
export function refusalReply({ status, message, form }: Refusal): WireReply {
  switch (form) {
    case 'protobuf':
      return { status, type: 'application/protobuf', body: Buffer.from(errorResponse(message)) };
    case 'error':
      return { status, type: jsonType, body: `${exactJson({ error: message })}\n` };
    case 'envelope':
      return { status, type: jsonType, body: `${exactJson({ success: false, error: { message } })}\n` };
    case 'text':
      return { status, type: 'text/plain; charset=utf-8', body: `${message}\n` };
  }
}

/** Responds with JSON, with a line end behind it. */
export function json(ctx: Context, text: string): void {
  ctx.type = jsonType;
  ctx.body = `${text}\n`;
}

export function protobuf(ctx: Context, bytes: Uint8Array): void {
  ctx.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  ctx.type = 'application/protobuf';
}

export const succeeded = (ctx: Context): void => json(ctx, '{"success":true}');

/** Refuses arguments in the query string that a call does not have, and those that are given twice. */
export function checkArguments(ctx: Context, ...allowed: string[]): void {
  for (const [name, value] of Object.entries(ctx.query)) {
    if (!allowed.includes(name)) {
      throw new Refusal(400, `${name} is not a valid argument`, { form: 'error' });
    }
    if (Array.isArray(value)) {
      throw new Refusal(400, `${name} is given twice`, { form: 'error' });
    }
  }
}

/** The one value of an argument, or undefined. */
export function argument(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Flags are set by the exact text `true`. */
export const flag = (ctx: Context, ...names: string[]): boolean => names.some((name) => argument(ctx, name) === 'true');

/** A number of an argument that must be there. */
export function shardArgument(ctx: Context, name: string): number {
  const text = argument(ctx, name);
  if (text === undefined || text === '') {
    throw new Refusal(400, `${name} is required`, { form: 'error' });
  }
  return shardNumber(text);
}

export function shardNumber(text: string): number {
  const shard = /^\d{1,13}$/.test(text) ? Number(text) : Infinity;
  if (shard >= 2 ** 43) {
    throw new Refusal(400, 'invalid shard argument', { form: 'error' });
  }
  return shard;
}

const protobufTypes = ['application/x-protobuf', 'application/protobuf'];

/** Whether the body is protobuf. */
export const sendsProtobuf = (ctx: Context): boolean =>
  ctx.is(protobufTypes) !== false && ctx.is(protobufTypes) !== null;

/** Whether the caller wants protobuf; JSON for callers that accept that as well. */
export const wantsProtobuf = (ctx: Context): boolean =>
  ctx.accepts('application/json', ...protobufTypes) !== 'application/json';

/** Management calls respond with JSON, also to clients that ask for protobuf with every request. */
export function mustAcceptJson(ctx: Context): void {
  if (ctx.accepts('application/json', ...protobufTypes) === false) {
    throw new Refusal(406, 'JSON only acceptable response');
  }
}
