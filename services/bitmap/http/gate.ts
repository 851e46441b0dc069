import type { IncomingMessage } from 'node:http';
import type { AuthFailures } from '../../../platform/http/auth/auth-failures';
import { isDirectRequest, isOwnHost } from '../../../platform/http/auth/loopback';
import { standingHeaders } from '../../../platform/http/limits/rate-limit';
import { bearerCheck } from './bearer';
import { Refusal } from './reply';

/** Decides whether a request comes in: `undefined`, or why not. */
export type Gate = (request: IncomingMessage) => Refusal | undefined;

/** Probes need no token. */
const probe = /^\/health\/?(?:\?|$)/;
/** What the client libraries send, and the text of a query: of what a page's form can send, text alone. */
const bodyTypes = /^(?:application\/json|application\/(?:x-)?protobuf|text\/plain)\s*(?:;|$)/i;

/** Pages send no query of this service: no response of it has a header that would let them read it. */
const ownOrigins = { allowedOrigins: [], allowLocalOrigins: false };

const refused = (status: number, message: string): Refusal => new Refusal(status, message, { form: 'error' });

/** Without a token: direct requests of this machine to it, from programs, with what programs send. */
function openGate({ headers, socket }: IncomingMessage): Refusal | undefined {
  if (!isOwnHost(headers.host, socket)) {
    return refused(403, 'without a token this is served as localhost only');
  }
  if (!isDirectRequest(headers, socket, ownOrigins)) {
    return refused(403, 'without a token pages of other sites, and proxies, may not call this');
  }
  const type = headers['content-type'];
  if (type !== undefined && !bodyTypes.test(type)) {
    return refused(415, 'send application/json, application/x-protobuf or text/plain');
  }
  return undefined;
}

/**
 * @param token what callers must present as a bearer token; absent: programs of this machine need none
 */
export function createGate(token: string | undefined, failures: AuthFailures): Gate {
  if (token === undefined) {
    return openGate;
  }
  const isAllowed = bearerCheck(token);
  return (request) => {
    const { headers, url = '' } = request;
    if (isAllowed(headers.authorization) || probe.test(url)) {
      return undefined;
    }
    const presented = headers.authorization !== undefined;
    const standing = failures.record(request, { via: 'http', presented });
    if (standing.allowed) {
      return new Refusal(401, 'a bearer token is required', {
        form: 'error',
        headers: { 'WWW-Authenticate': 'Bearer' },
      });
    }
    const message = 'too many failed authentications; try again later';
    return new Refusal(429, message, { form: 'error', headers: standingHeaders(standing, Date.now()) });
  };
}
