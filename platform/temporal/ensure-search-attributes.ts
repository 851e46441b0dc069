import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import type { Log } from '../log/log';
import { searchAttributeNames } from './search-attributes';

/** `INDEXED_VALUE_TYPE_KEYWORD` of the Temporal API. */
const keywordType = 2;

/** gRPC status codes; see https://grpc.io/docs/guides/status-codes. */
const invalidArgument = 3;
const alreadyExists = 6;
const permissionDenied = 7;
const unimplemented = 12;

const isStatus = (error: unknown, ...codes: number[]): boolean =>
  isGrpcServiceError(error) && codes.includes(error.code);

/** A search attribute of Runboard exists on the server with another type, made by another application. */
export class SearchAttributeTypeError extends Error {
  override readonly name = 'SearchAttributeTypeError';

  constructor(readonly attributes: string[]) {
    super(
      `The Temporal namespace has search attributes that are not of type Keyword: ${attributes.join(', ')}. ` +
        'Remove them (temporal operator search-attribute remove) or use another TEMPORAL_NAMESPACE.',
    );
  }
}

/**
 * Registers Runboard's search attributes in a namespace and waits until the server takes them. Existing ones are not changed.
 * Without permission to register (Temporal Cloud, a restricted server) it logs a warning with the command to run.
 *
 * @param options.usableWithinMs bound for the server's own cache to notice, in milliseconds
 * @throws SearchAttributeTypeError when one of them exists with another type
 */
export async function ensureSearchAttributes(
  connection: ConnectionLike,
  namespace: string,
  { log, usableWithinMs = 60_000 }: { log: Log; usableWithinMs?: number },
): Promise<void> {
  try {
    const missing = await findMissing(connection, namespace);
    if (missing.length === 0) {
      return;
    }
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, keywordType])),
    });
    log.info({ namespace, added: missing }, 'search attributes registered');
  } catch (error) {
    if (isStatus(error, permissionDenied, unimplemented)) {
      const flags = searchAttributeNames.map((name) => `--name ${name} --type Keyword`).join(' ');
      log.warn(
        { namespace },
        `search attribute registration not permitted; run: temporal operator search-attribute create ${flags}`,
      );
      return;
    }
    // Another process of the service registers them at the same time.
    if (!isStatus(error, alreadyExists)) {
      throw error;
    }
  }
  await awaitUsable(connection, namespace, { log, withinMs: usableWithinMs });
}

async function findMissing(connection: ConnectionLike, namespace: string): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const typeOf = (name: string) => customAttributes[name] as number | undefined;
  const mistyped = searchAttributeNames.filter((name) => (typeOf(name) ?? keywordType) !== keywordType);
  if (mistyped.length > 0) {
    throw new SearchAttributeTypeError(mistyped);
  }
  return searchAttributeNames.filter((name) => typeOf(name) === undefined);
}

/** The server caches a namespace's attributes for some seconds, and refuses workflows that use ones it has not seen. */
async function awaitUsable(
  connection: ConnectionLike,
  namespace: string,
  { log, withinMs }: { log: Log; withinMs: number },
): Promise<void> {
  const query = searchAttributeNames.map((name) => `${name} = "none"`).join(' OR ');
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query });
      return;
    } catch (error) {
      if (!isStatus(error, invalidArgument)) {
        throw error;
      }
      if (performance.now() >= deadline) {
        log.warn({ namespace, withinMs }, 'search attributes not yet available');
        return;
      }
    }
    await delay(250);
  }
}
