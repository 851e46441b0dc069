import { z } from 'zod';
import { createFilteredFetch, type FilteredFetch, ForbiddenAddressError } from '../../platform/http/filtered-fetch';
import { errorOfResponse, ForgeError } from './forge-error';

const responseLimitBytes = 33_554_432;
const usualTimeoutMs = 30_000;

interface FetchSettings {
  baseUrl: string;
  allowPrivate: boolean;
  timeoutMs?: number;
  /** What errors call the service; forge when absent. */
  service?: string;
}

/**
 * The `fetch` that a forge's client library gets: everything but a success is a `ForgeError`, so that no library retries by
 * itself what a workflow retries durably.
 */
export function createForgeFetch({
  baseUrl,
  allowPrivate,
  timeoutMs = usualTimeoutMs,
  service = 'forge',
}: FetchSettings): FilteredFetch {
  const { origin } = new URL(baseUrl);
  const send = createFilteredFetch({ origin, allowPrivate, timeoutMs, maxBytes: responseLimitBytes });
  return async (url, request) => {
    let response: Response;
    try {
      response = await send(url, request);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new ForgeError(
        error instanceof ForbiddenAddressError ? 'refused-address' : 'unavailable',
        `The ${service} at ${origin} was not reached: ${message}`,
      );
    }
    if (response.ok) {
      return response;
    }
    const { status, headers } = response;
    const header = (name: string): string | undefined => headers.get(name) ?? undefined;
    throw errorOfResponse({ status, header, service, message: reasonIn(await response.text()) });
  };
}

const reasons = z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]);
/** Reasons by the field that they are about, as Jira sends them. */
const byField = z
  .record(z.string(), z.string())
  .transform((errors) => Object.entries(errors).map(([field, reason]) => `${field}: ${reason}`));
const refusal = z.object({
  message: z.union([z.string(), z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
  error: z.string().optional(),
  errors: z
    .union([z.array(reasons), byField])
    .optional()
    .catch(undefined),
  errorMessages: z.array(z.string()).optional().catch(undefined),
});

/** The reasons in a refusal, in the forms of all families; nothing of a page that is no JSON. */
function reasonIn(text: string): string {
  let sent: unknown;
  try {
    sent = JSON.parse(text);
  } catch {
    return '';
  }
  const parsed = refusal.safeParse(sent);
  if (!parsed.success) {
    return '';
  }
  const { message, error, errors = [], errorMessages = [] } = parsed.data;
  const first = typeof message === 'object' ? JSON.stringify(message) : message;
  return [first, error, ...errorMessages, ...errors].filter((part) => part !== undefined).join(' · ');
}

/** What a response has that is needed of it. @throws ForgeError for one that is not as documented */
export function parsed<T extends z.ZodType>(schema: T, data: unknown, service = 'forge'): z.output<T> {
  const result = schema.safeParse(data);
  if (result.success) {
    return result.data;
  }
  const [issue] = result.error.issues;
  throw new ForgeError(
    'unavailable',
    `The ${service} sent what its API does not document: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
  );
}

/** A moment as it is stored here, from the forms that forges write it in. */
export const forgeMoment = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a moment')
  .transform((text) => new Date(text).toISOString());
