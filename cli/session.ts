import type { Writable } from 'node:stream';
import WebSocket from 'ws';
import { type BoardClient, createBoardClient, type FeedOptions } from '../clients/typescript/src';
import { type Style, styleFor } from './output/style';
import { readSettings } from './settings';

/** What of its surroundings the command uses: the process of the user, or a test's. */
export interface Surroundings {
  environment: Record<string, string | undefined>;
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: Writable & { isTTY?: boolean; columns?: number };
  errors: Writable & { isTTY?: boolean };
  /** Aborted by an interrupt of the user. */
  signal: AbortSignal;
}

export interface GlobalOptions {
  url?: string;
  json?: boolean;
}

/** One execution of a command against a board. */
export interface Session {
  url: string;
  board: BoardClient;
  /** How the live feed is read. */
  feed: FeedOptions;
  isJson: boolean;
  style: Style;
  signal: AbortSignal;
  /** Prints the value as JSON where that is asked for, else the text. */
  print(value: unknown, text: () => string): void;
  /** A line for people: to standard error, and not where JSON is asked for. */
  note(line: string): void;
}

/** So often in a row no WebSocket is opened before what is followed is polled instead. */
const maxRefusals = 3;

export async function openSession(surroundings: Surroundings, options: GlobalOptions): Promise<Session> {
  const { environment, output, errors, signal } = surroundings;
  const { url, key } = await readSettings(environment, options.url);
  const isJson = options.json === true;
  const access = { url, ...(key === undefined ? {} : { key }) };
  const note = (line: string): void => {
    if (!isJson) {
      errors.write(`${line}\n`);
    }
  };
  return {
    url,
    board: createBoardClient(access),
    feed: {
      ...access,
      signal,
      maxRefusals,
      onLost: (time) => time === 1 && note('The connection to the board is lost. It is tried again …'),
      // Node 20 has no WebSocket of its own.
      connect: (address) => new WebSocket(address),
    },
    isJson,
    style: styleFor(output, environment),
    signal,
    print: (value, text) => {
      output.write(isJson ? `${JSON.stringify(value)}\n` : text());
    },
    note,
  };
}
