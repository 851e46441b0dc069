import { JSONPathEnvironment, JSONPathError, type JSONValue } from 'json-p3';

export interface JsonMatches {
  matches: { path: string; value: unknown }[];
  /** Whether there are more. */
  truncated: boolean;
}

/** A JSONPath that cannot be evaluated; the message is for the caller. */
export class JsonPathProblem extends Error {
  override readonly name = 'JsonPathProblem';
}

/** How many values a query may visit. A short query can require more than a computer will ever visit. */
const maxVisits = 300_000;

/** RFC 9535 without the functions that take regular expressions: those may take for ever. */
const environment = new JSONPathEnvironment({ maxRecursionDepth: 200 });
environment.functionRegister.delete('match');
environment.functionRegister.delete('search');

/**
 * Finds the values a JSONPath (RFC 9535) names.
 *
 * @param document any JSON value
 * @param limits most values, and most bytes of JSON they may have together
 * @throws JsonPathProblem when the path is none, or visits too much
 */
export function jsonPathMatches(
  document: unknown,
  path: string,
  limits: { nodes: number; bytes: number },
): JsonMatches {
  const matches: JsonMatches['matches'] = [];
  const meter = new Meter(maxVisits);
  let bytes = 0;
  try {
    for (const node of environment.lazyQuery(path, meter.watched(document as JSONValue))) {
      const match = { path: node.getPath({ form: 'canonical' }), value: meter.plain(node.value) };
      bytes += Buffer.byteLength(JSON.stringify(match));
      if (matches.length === limits.nodes || bytes > limits.bytes) {
        return { matches, truncated: true };
      }
      matches.push(match);
    }
  } catch (error) {
    if (error instanceof JSONPathError) {
      throw new JsonPathProblem(error.message.slice(0, 300));
    }
    if (error instanceof RangeError) {
      throw new JsonPathProblem('The path is nested too deeply.');
    }
    throw error;
  }
  return { matches, truncated: false };
}

/** Counts every visit of a value of a document, and ends a query that visits too many. */
class Meter {
  private readonly plains = new WeakMap<object, object>();

  constructor(private left: number) {}

  watched(value: JSONValue): JSONValue {
    if (typeof value !== 'object' || value === null) {
      return value;
    }
    const watched = new Proxy(value, {
      get: (target, key) => {
        this.look(1);
        return this.watched(Reflect.get(target, key) as JSONValue);
      },
      ownKeys: (target) => {
        const keys = Reflect.ownKeys(target);
        this.look(keys.length);
        return keys;
      },
    });
    this.plains.set(watched, value);
    return watched;
  }

  plain(value: JSONValue): unknown {
    return typeof value === 'object' && value !== null ? this.plains.get(value) : value;
  }

  private look(times: number): void {
    this.left -= times;
    if (this.left < 0) {
      throw new JsonPathProblem('The path selects too many values; request fewer at a time.');
    }
  }
}
