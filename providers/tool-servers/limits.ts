import type { JsonLimits } from '../../platform/json/bounded';

/** How much is read of a tool server. Beyond a limit its output is not read on, and the connection ends. */
export const serverLimits = {
  /** One message, in bytes. */
  messageBytes: 4_194_304,
  /** All that it sends between the beginnings of two requests of ours. */
  outputBytes: 33_554_432,
  /** Requests of the server that wait for a response. */
  unanswered: 32,
  /** Lines of standard output that are no messages. */
  junkLines: 1_000,
} as const;

/** The shape of one message. */
export const messageShape: JsonLimits = { depth: 64, values: 100_000, nameLength: 1_024 };

/** How many tools a server may have, and how much may be stored of them. */
export const toolLimits = {
  tools: 500,
  pages: 50,
  title: 200,
  description: 4_000,
  schemaBytes: 65_536,
  /** How long the schemas of all tools may take to be compiled, in milliseconds. */
  compileMs: 5_000,
  /** Of all tools as JSON. */
  totalBytes: 2_097_152,
} as const;

/** How much of a result is returned, in bytes of JSON. */
export const resultLimits = { bytes: 1_048_576, parts: 1_000 } as const;
