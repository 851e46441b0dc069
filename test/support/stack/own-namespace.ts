import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import type { Log } from '../../../platform/log/log';
import { findTemporalBinary } from '../../../platform/temporal/embedded/binary';
import { startDevServer } from '../../../platform/temporal/embedded/dev-server';

/** Where a stack reaches Temporal. */
export interface StackServer {
  address: string;
  httpAddress: string;
  close(): Promise<void>;
}

/**
 * The server that all test files share; one of its own for a run that shares none. A stack has a namespace of its own there,
 * since a server takes a second to start and half a second of CPU.
 *
 * @param options.dir for the files of a server of its own
 */
export async function stackServer({ dir, log }: { dir: string; log: Log }): Promise<StackServer> {
  const { TEST_TEMPORAL_ADDRESS: address, TEST_TEMPORAL_HTTP_ADDRESS: httpAddress } = process.env;
  if (address !== undefined && httpAddress !== undefined) {
    return { address, httpAddress, close: () => Promise.resolve() };
  }
  const binary = await findTemporalBinary({ report: () => undefined });
  const server = await startDevServer({ binary, dbFile: join(dir, 'temporal.db'), namespace: 'default', log });
  // No test reads its database again: a graceful end would take more than a second.
  return { ...server, close: () => server.stop(0) };
}

/** Registers a namespace that no other test uses. */
export async function registerNamespace({ workflowService }: Pick<Connection, 'workflowService'>): Promise<string> {
  const namespace = `stack-${randomUUID()}`;
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  return namespace;
}
