import type { IncomingHttpHeaders } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { isLoopbackHost } from '../../http/loopback-host';
import { describeNamespaceRequest } from '../describe-namespace';
import { callMs, type ResponseWait, untilResponds } from '../until-responds';

/**
 * Waits until the namespace of a server on this machine responds, as `awaitNamespace` does for any server, by HTTP/2 alone: the
 * client of Temporal would be most of what the supervisor loads.
 *
 * @throws Error with the last failure as its cause when time is up
 */
export const awaitLocalNamespace = (address: string, namespace: string, wait: ResponseWait): Promise<void> =>
  untilResponds({ address, namespace }, wait, () => describe(address, namespace));

async function describe(address: string, namespace: string): Promise<void> {
  const session = connect(`http://${address}`);
  try {
    const status = await new Promise<string>((resolve, reject) => {
      session.once('error', reject);
      session.setTimeout(callMs, () => reject(new Error(`No response within ${callMs} ms.`)));
      call(session, namespace).then(resolve, reject);
    });
    if (!status.startsWith('0 ')) {
      throw new Error(`gRPC status ${status}`);
    }
  } finally {
    session.destroy();
  }
}

/** The status of gRPC that a call ends with, and its message; of one that failed at once they are among the headers. */
async function call(session: ClientHttp2Session, namespace: string): Promise<string> {
  const { path, request } = describeNamespaceRequest(namespace);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(request.length, 1);
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  let status = 'unknown';
  const note = ({ 'grpc-status': code, 'grpc-message': message }: IncomingHttpHeaders): void => {
    status = typeof code === 'string' ? `${code} ${String(message ?? '')}` : status;
  };
  stream
    .on('response', note)
    .on('trailers', note)
    .resume()
    .end(Buffer.concat([head, request]));
  await new Promise<void>((resolve, reject) => {
    stream.once('end', resolve).once('error', reject).once('close', resolve);
  });
  return status;
}

/** Whether a server is on this machine, by its address as `host:port`. */
export const isLocal = (address: string): boolean => isLoopbackHost(address.replace(/:\d+$/, ''));
