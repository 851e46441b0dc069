import { InterceptingCall, type Interceptor, status } from '@grpc/grpc-js';
import { Connection } from '@temporalio/client';
import { retryUntilClosed } from '../../../platform/temporal/closed-connection';

describe('a closed connection to Temporal', () => {
  it('cancels a call that waits for its retry', async () => {
    const address = process.env.TEST_TEMPORAL_ADDRESS;
    let closed: Promise<void> | undefined;
    /** Lets the first response be one that is retried, and closes the connection meanwhile. */
    const unavailable: Interceptor = (options, nextCall) =>
      new InterceptingCall(nextCall(options), {
        start: (metadata, _listener, next) =>
          next(metadata, {
            onReceiveMessage: (message, pass) => pass(message),
            onReceiveStatus: (received, pass) => {
              closed = connection.close();
              pass({ ...received, code: status.UNAVAILABLE });
            },
          }),
      });
    const connection = Connection.lazy({ address, interceptors: [...retryUntilClosed, unavailable] });
    const call = connection.workflowService.describeNamespace({ namespace: 'default' });
    await expect(call).rejects.toMatchObject({ code: status.CANCELLED, details: 'Channel has been shut down' });
    await closed;
  });
});
