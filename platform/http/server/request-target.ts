const unreserved = /^[A-Za-z0-9._~-]$/;
/** The path of nearly every request: nothing in it has a second form but for empty and dot segments. */
const plainPath = /^(?:\/(?!\.{0,2}(?:\/|$))[A-Za-z0-9._~!$&'()*+,;=:@-]+)+$/;

/** One form for every way to write a path: unreserved characters as they are, other escapes in capitals (RFC 3986, 6.2.2). */
const withCanonicalEscapes = (path: string): string =>
  path.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return unreserved.test(character) ? character : escape.toUpperCase();
  });

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The path in its one form; `undefined` when it is malformed or could be read in two ways. */
function canonicalPath(path: string): string | undefined {
  if (plainPath.test(path) || path === '/') {
    return path;
  }
  if (!path.startsWith('/') || /[^\x21-\x7e]|\\/.test(path) || !isDecodable(path)) {
    return undefined;
  }
  const canonical = withCanonicalEscapes(path);
  const segments = canonical.slice(1).split('/');
  if (segments.at(-1) === '') {
    segments.pop();
  }
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return undefined;
  }
  return canonical;
}

/**
 * The target of a request, in the one form that limits, authentication, the audit log and the router see: an absolute path and
 * the query. Letter case is preserved: paths are compared with it.
 *
 * @param target the request line's, in origin form, or in absolute form for the authority that `host` names
 * @returns `undefined` for a target that is no URL of this server, or whose path has an empty or a dot segment, a
 *   backslash, a character outside ASCII or a broken percent-encoding
 */
export function canonicalTarget(target: string, host: string | undefined): string | undefined {
  if (target.includes('#')) {
    return undefined;
  }
  const absolute = /^https?:\/\/([^/?]*)(.*)$/is.exec(target);
  if (absolute && absolute[1]?.toLowerCase() !== host?.toLowerCase()) {
    return undefined;
  }
  const local = absolute?.[2] ?? target;
  const at = local.indexOf('?');
  const path = at === -1 ? local : local.slice(0, at);
  const canonical = canonicalPath(path === '' && absolute ? '/' : path);
  return canonical === undefined || at === -1 ? canonical : canonical + local.slice(at);
}
