import type { IncomingMessage } from 'node:http';
import type { Refusal } from './raw-refusal';
import { canonicalTarget } from './request-target';

const wellFormedHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** One client sends the same `Host` with each request. */
let lastWellFormed: string | undefined;

function isWellFormed(host: string): boolean {
  if (host === lastWellFormed) {
    return true;
  }
  const isValid = wellFormedHost.test(host) && URL.canParse(`http://${host}`);
  lastWellFormed = isValid ? host : lastWellFormed;
  return isValid;
}

const bad = (message: string): Refusal => ({ status: 400, code: 'BAD_REQUEST', message });

function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === 'host') {
      hosts += 1;
    }
  }
  return hosts;
}

/**
 * Checks the beginning of every request, also of one for an upgrade: exactly one well-formed `Host` (RFC 9112, 3.2; HTTP/1.0
 * may go without), and a target that is a URL of this server. The target is normalised.
 *
 * @returns why the request is refused; `undefined` for one that is not
 */
export function checkRequest(request: IncomingMessage): Refusal | undefined {
  const { host } = request.headers;
  const hosts = hostsOf(request);
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0')) {
    return bad('A request must have exactly one Host header.');
  }
  if (host && !isWellFormed(host)) {
    return bad('The Host header is malformed.');
  }
  const target = canonicalTarget(request.url ?? '', host);
  if (target === undefined) {
    return bad(
      'The request target is not the path of a URL in its normal form: no empty or dot segments, no broken encoding.',
    );
  }
  request.url = target;
  return undefined;
}
