import type { HttpContext } from '../context';

/** That a route will be removed, and what is called instead (specification 1, Versioning). */
export interface Deprecation {
  /** The day since when it is deprecated: `2026-11-24`. */
  since: string;
  /** The first day on which it may be gone. */
  sunset: string;
  /** The path of the route that stays, relative to `/api`, with parameters of this one: `/tasks/:taskId`. */
  successor: string;
}

const epochSeconds = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000;

/** The headers that announce it, as the OpenAPI document describes them. */
export const deprecationHeaders = {
  Deprecation: { description: 'Since when the operation is deprecated (RFC 9745).', schema: { type: 'string' } },
  Sunset: { description: 'When the operation may be removed (RFC 8594).', schema: { type: 'string' } },
  Link: { description: 'The operation that stays, rel="successor-version".', schema: { type: 'string' } },
};

/** One sentence for the OpenAPI document. */
export const describeDeprecation = ({ sunset, successor }: Deprecation): string =>
  `Call /api${successor.replace(/:(\w+)/g, '{$1}')} instead; this operation may be removed from ${sunset} on.`;

/** Sets `Deprecation`, `Sunset` and the link to the successor on a response of a deprecated route. */
export function announceDeprecation(ctx: HttpContext, deprecation: Deprecation | undefined): void {
  if (!deprecation) {
    return;
  }
  const { since, sunset, successor } = deprecation;
  const { params = {} } = ctx as { params?: Record<string, string> };
  const path = successor.replace(/:(\w+)/g, (_parameter, name: string) => encodeURIComponent(params[name] ?? ''));
  ctx.set('Deprecation', `@${epochSeconds(since)}`);
  ctx.set('Sunset', new Date(epochSeconds(sunset) * 1000).toUTCString());
  ctx.append('Link', `</api${path}>; rel="successor-version"`);
}
