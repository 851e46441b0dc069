import { createPublicKey, type KeyObject } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { isAddressRange } from '../../http/limits/caller-address';

/** A whole number; `unit` is shown beside the range. */
export const integer = (fallback: number, { min, max, unit }: { min: number; max: number; unit?: string }) =>
  z.coerce
    .number()
    .int()
    .min(min)
    .max(max)
    .default(fallback)
    .meta(unit === undefined ? {} : { unit });

export const milliseconds = (fallback: number, min = 1, max = 86_400_000) =>
  integer(fallback, { min, max, unit: 'ms' });
export const port = (fallback: number) => integer(fallback, { min: 0, max: 65_535 });
export const perMinute = (fallback: number) => integer(fallback, { min: 0, max: 1_000_000, unit: 'a minute' });

export const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false', '1', '0'])
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true' || text === '1');

/** Any text that is not empty; `form` describes what it has to be. */
export const text = (form: string) => z.string().min(1).meta({ form });

export const optionalText = (form: string) => z.string().min(1).optional().meta({ form });

/** A key that signatures are made with. */
export const signatureKey = z.string().min(16).optional();

const isServerPort = (digits: string | undefined): boolean => Number(digits) >= 1 && Number(digits) <= 65_535;

/**
 * A public key of Ed25519; read as PEM.
 *
 * Private keys are refused, although their public part could be read from them: code that verifies has no use for one.
 */
export const ed25519PublicKey = z
  .string()
  .transform((value, context): string => {
    const pem = value.includes('-----BEGIN') ? value : Buffer.from(value, 'base64').toString('utf8');
    const key = pem.includes('PRIVATE KEY') ? undefined : publicKeyOf(pem);
    if (key?.asymmetricKeyType !== 'ed25519') {
      context.addIssue({ code: 'custom', message: 'must be the PEM of an Ed25519 public key, or base64 of it' });
      return z.NEVER;
    }
    return key.export({ type: 'spki', format: 'pem' }) as string;
  })
  .optional()
  .meta({ form: 'PEM, or base64 of PEM' });

function publicKeyOf(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

/** The address of a server, without a scheme. */
export const hostPort = z
  .string()
  .refine(
    (value) => isServerPort(/^[^\s/:]+:(\d{1,5})$/.exec(value)?.[1]),
    'must be host:port, with a port of 1 to 65535',
  )
  .optional()
  .meta({ form: 'host:port' });

/** An address of this machine that is listened on by code that resolves no names. */
export const listenAddress = z
  .string()
  .refine((value) => {
    const [, ipv4 = '', ipv6 = '', digits] = /^(?:([^[\]:]+)|\[([^[\]]+)\]):(\d{1,5})$/.exec(value) ?? [];
    return (isIPv4(ipv4) || isIPv6(ipv6)) && isServerPort(digits);
  }, 'must be IP address:port, such as 127.0.0.1:9464, with a port of 1 to 65535; names are not resolved')
  .optional()
  .meta({ form: 'IP address:port' });

export const entriesOf = (list: string): string[] =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);

export const names = z.string().default('').transform(entriesOf).meta({ form: 'comma-separated' });

/** `scheme://host[:port]` of a URL that is that alone; undefined for any other text. */
function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  return isOrigin ? url.origin : undefined;
}

const notAnOrigin = 'must be http(s)://host[:port], without path, query and credentials';

/** The origin of a server that is called over HTTP. */
export const httpOrigin = z
  .string()
  .refine((value) => originOf(value) !== undefined, notAnOrigin)
  .optional()
  .meta({ form: 'origin' });

/** Comma-separated origins of pages, each as browsers send it. */
export const origins = z
  .string()
  .default('')
  .transform((list, context): string[] =>
    entriesOf(list).flatMap((entry, index) => {
      const origin = originOf(entry);
      if (origin === undefined) {
        context.addIssue({ code: 'custom', message: `entry ${index + 1} ${notAnOrigin}` });
      }
      return origin ?? [];
    }),
  )
  .meta({ form: 'comma-separated origins' });

/** Absolute directories by name: `name=/path,…`. */
export const namedDirectories = z
  .string()
  .default('')
  .transform((list, context): ReadonlyMap<string, string> => {
    const found = new Map<string, string>();
    entriesOf(list).forEach((entry, index) => {
      const [, name = '', path = ''] = /^([a-z0-9][a-z0-9._-]{0,63})=(.*)$/i.exec(entry) ?? [];
      if (name === '' || !isAbsolute(path) || found.has(name)) {
        context.addIssue({
          code: 'custom',
          message: `entry ${index + 1} is not name=/absolute/path with a name of its own`,
        });
      }
      found.set(name, path);
    });
    return found;
  })
  .meta({ form: '`name=/path,…`' });

/** Comma-separated absolute directories. */
export const directories = z
  .string()
  .default('')
  .transform((list, context): string[] =>
    entriesOf(list).filter((directory, index) => {
      if (!isAbsolute(directory)) {
        context.addIssue({ code: 'custom', message: `entry ${index + 1} is not an absolute path` });
      }
      return isAbsolute(directory);
    }),
  )
  .meta({ form: 'comma-separated directories' });

/** Comma-separated addresses and networks. */
export const addressRanges = z
  .string()
  .default('')
  .transform((list, context): string[] =>
    entriesOf(list).filter((range, index) => {
      const isRange = isAddressRange(range);
      if (!isRange) {
        const message = `entry ${index + 1} is not an address or a network such as 10.0.0.0/8`;
        context.addIssue({ code: 'custom', message });
      }
      return isRange;
    }),
  )
  .meta({ form: 'comma-separated' });

/** Comma-separated URLs that are called over HTTP. */
export const webhookUrls = z
  .string()
  .default('')
  .transform((list, context): string[] =>
    entriesOf(list).filter((url, index) => {
      const { protocol, username, password } = URL.parse(url) ?? {};
      const sound = (protocol === 'https:' || protocol === 'http:') && !username && !password;
      if (!sound) {
        context.addIssue({ code: 'custom', message: `entry ${index + 1} is not an http(s) URL` });
      }
      return sound;
    }),
  )
  .meta({ form: 'comma-separated URLs' });

/** A program with its arguments, as a JSON array of texts. */
export const command = z
  .string()
  .transform((json, context): string[] => {
    try {
      return z.array(z.string().min(1)).min(1).max(64).parse(JSON.parse(json));
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON array of texts, e.g. ["code", "{path}"]' });
      return z.NEVER;
    }
  })
  .optional()
  .meta({ form: 'JSON array' });
