import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { retryUntilClosed } from '../../../platform/temporal/closed-connection';

export interface TestTemporal {
  address: string;
  httpAddress: string;
  namespace: string;
  client: Client;
  /** For workers of this test file. */
  nativeConnection: NativeConnection;
  /** A task queue, or workflow id, that no other test uses; `label` shows in it. */
  unique(label: string): string;
  /** To be called in `afterAll`, after every worker has ended. */
  close(): Promise<void>;
}

/** Connects to the Temporal server that all test files share. */
export async function testTemporal(): Promise<TestTemporal> {
  const address = process.env.TEST_TEMPORAL_ADDRESS;
  if (!address) {
    throw new Error('TEST_TEMPORAL_ADDRESS is not set: run the tests through jest.config.js.');
  }
  const httpAddress = process.env.TEST_TEMPORAL_HTTP_ADDRESS ?? '';
  const namespace = 'default';
  const connection = await Connection.connect({ address, interceptors: retryUntilClosed });
  const nativeConnection = await NativeConnection.connect({ address });
  return {
    address,
    httpAddress,
    namespace,
    client: new Client({ connection, namespace }),
    nativeConnection,
    unique: (label) => `${label}-${randomUUID()}`,
    close: async () => {
      await connection.close();
      await nativeConnection.close();
    },
  };
}
