import type { NextCall } from '../contracts/error';
import { remedies } from '../domain/remedies/remedies';
import type { Refused, Step } from '../domain/remedies/remedy';
import type { AppError } from '../platform/errors/app-error';
import { type HttpContext, matchedRoute } from '../platform/http/context';
import { fullPath, type RouteContract } from '../platform/http/routing/route-contract';
import { compact } from '../platform/json/compact';
import { isWellFormed } from '../platform/text/well-formed';

/** Values that the path of a call is made of, by the name of its parameter. */
type ValueOf = (name: string) => unknown;

interface Request extends Refused {
  params: Record<string, unknown>;
}

const operationOf = (contract: RouteContract): string => `${contract.method.toUpperCase()} ${fullPath(contract)}`;

/**
 * Finds the call that helps after a refusal, from the table of remedies. Its path is one of an operation that is served, and
 * is only made of parameters that this operation accepts.
 *
 * @param contracts of all operations
 */
export function createNextCalls(contracts: readonly RouteContract[]) {
  const served = new Map(contracts.map((contract) => [operationOf(contract), contract]));

  return function nextCall({ code, details }: AppError, ctx: HttpContext): NextCall | undefined {
    const remedy = Object.hasOwn(remedies, code) ? remedies[code] : undefined;
    if (!remedy || 'none' in remedy) {
      return undefined;
    }
    const refused = requestOf(ctx, details);
    for (const step of remedy) {
      const found = step.when?.(refused) === false ? undefined : callOf(step, refused);
      if (found) {
        return { ...found, ...compact({ body: bodyOf(step, refused) }), remedy: step.remedy };
      }
    }
    return undefined;
  };

  function callOf({ call, ids = {} }: Step, refused: Request): Omit<NextCall, 'remedy'> | undefined {
    if (call === 'read') {
      return subjectOf(refused);
    }
    return filled(call === 'repeat' ? refused.operation : call, (name) =>
      [...(ids[name] ?? []), name]
        .map((field) => fieldOf(refused.details, field))
        .concat(refused.params[name])
        .find((value) => value !== undefined),
    );
  }

  /** What the details know of the body, if the operation accepts it. */
  function bodyOf({ call, body }: Step, { details }: Request): Record<string, unknown> | undefined {
    const fields = Object.entries(body ?? {}).map(([name, field]) => [name, fieldOf(details, field)]);
    const sent = Object.fromEntries(fields) as Record<string, unknown>;
    return body && served.get(call)?.body?.safeParse(sent).success === true ? sent : undefined;
  }

  /** The record that a create found taken, else what is at the path of the request, else what is above it. */
  function subjectOf({ operation = '', params, details }: Request): Omit<NextCall, 'remedy'> | undefined {
    const [method, path = ''] = operation.split(' ');
    const valueOf: ValueOf = (name) => params[name];
    const item = [...served.keys()].find(
      (key) => key.startsWith(`GET ${path}/:`) && !key.slice(path.length + 6).includes('/'),
    );
    const taken = method === 'POST' ? filled(item, (name) => params[name] ?? details.resourceId) : undefined;
    if (taken) {
      return taken;
    }
    const segments = path.split('/');
    for (let length = segments.length; length > 2; length -= 1) {
      const above = filled(`GET ${segments.slice(0, length).join('/')}`, valueOf);
      if (above) {
        return above;
      }
    }
    return undefined;
  }

  /** The operation with its path filled in, if it is served and accepts the values. */
  function filled(operation: string | undefined, valueOf: ValueOf): Omit<NextCall, 'remedy'> | undefined {
    const contract = operation === undefined ? undefined : served.get(operation);
    if (!contract) {
      return undefined;
    }
    const path = fullPath(contract);
    const names = [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name);
    const values = Object.fromEntries(names.map((name) => [name, valueOf(name)]));
    const isText = Object.values(values).every((value) => typeof value === 'string' && isWellFormed(value));
    if (!isText || contract.params?.safeParse(values).success === false) {
      return undefined;
    }
    return {
      method: contract.method.toUpperCase() as NextCall['method'],
      path: path.replace(/[:*](\w+)/g, (_parameter, name: string) => encodeURIComponent(String(values[name]))),
    };
  }
}

/** The request as the router matched it. */
function requestOf(ctx: HttpContext, details: Record<string, unknown>): Request {
  const { params } = ctx as { params?: Record<string, unknown> };
  const route = matchedRoute(ctx);
  return {
    details,
    operation: route === undefined ? undefined : `${ctx.method} ${route}`,
    params: params ?? {},
  };
}

/** A field of the details, by its path. */
const fieldOf = (details: Record<string, unknown>, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      details,
    );
