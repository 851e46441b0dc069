/** Claims about a person, of an ID token or of the user information. */
export type Claims = Readonly<Record<string, unknown>>;

const maxGroups = 2_000;

/** A claim by its name, or by the path that a name with dots is. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) {
    return claims[name];
  }
  return name
    .split('.')
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, part)
          ? (value as Record<string, unknown>)[part]
          : undefined,
      claims,
    );
}

/** The groups of a claim, which is a list of names or one name; `undefined` where there is no such claim. */
export function groupsOf(claims: Claims, name: string): string[] | undefined {
  const claim = claimAt(claims, name);
  if (typeof claim === 'string') {
    return [claim];
  }
  return Array.isArray(claim)
    ? claim.filter((group): group is string => typeof group === 'string').slice(0, maxGroups)
    : undefined;
}

const textAt = (claims: Claims, name: string): string | undefined => {
  const value = claims[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};

/** What the person is called: by its name, else by its address or login, else by its id there. */
export const displayNameOf = (claims: Claims, subject: string): string =>
  ['name', 'preferred_username', 'email'].map((name) => textAt(claims, name)).find(Boolean) ?? subject;

/** The address, and whether the provider has verified that it is the person's. */
export function emailOf(claims: Claims): { email: string; isVerified: boolean } | undefined {
  const email = textAt(claims, 'email');
  return email === undefined ? undefined : { email, isVerified: claims.email_verified === true };
}

/** Whether the person has a verified address in one of these domains; any person when there are none. */
export function isOfDomain(claims: Claims, domains: readonly string[]): boolean {
  if (domains.length === 0) {
    return true;
  }
  const address = emailOf(claims);
  const domain = address?.email.split('@').at(-1)?.toLowerCase();
  return address?.isVerified === true && domains.some((allowed) => allowed.toLowerCase() === domain);
}
