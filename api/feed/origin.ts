const localHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether a page of this origin may open the channel. No Origin header is no page; listed origins and, where
 * allowed, pages of this machine may. Comparing with the Host header would let a rebound name in. A browser sends the header by itself, so it cannot be forged.
 */
export function isAllowedOrigin(
  origin: string | undefined,
  settings: { allowedOrigins: readonly string[]; allowLocalOrigins: boolean },
): boolean {
  if (origin === undefined) return true;
  if (settings.allowedOrigins.includes(origin)) return true;
  if (!URL.canParse(origin)) return false;
  return settings.allowLocalOrigins && localHosts.has(new URL(origin).hostname);
}
