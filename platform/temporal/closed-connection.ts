import { InterceptingCall, type Interceptor, Metadata, status } from '@grpc/grpc-js';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Call = ConstructorParameters<typeof InterceptingCall>[0];

/**
 * Ends a call that is made on a closed connection with `CANCELLED`. The channel throws instead, which would be an uncaught exception
 * where the retry of an earlier call makes it from a timer.
 */
export const cancelAfterClose: Interceptor = (options, nextCall) => {
  try {
    return new InterceptingCall(nextCall(options));
  } catch (error) {
    return new InterceptingCall(cancelledCall(error instanceof Error ? error.message : String(error)));
  }
};

function cancelledCall(details: string): Call {
  const ignore = (): void => undefined;
  return {
    start: (_metadata, listener) =>
      listener?.onReceiveStatus?.({ code: status.CANCELLED, details, metadata: new Metadata() }),
    sendMessage: ignore,
    sendMessageWithContext: ignore,
    startRead: ignore,
    halfClose: ignore,
    cancelWithStatus: ignore,
    getPeer: () => '',
    getAuthContext: () => null,
  };
}

/** The retries of Temporal's client, which end with the connection. */
export const retryUntilClosed: Interceptor[] = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), cancelAfterClose];
