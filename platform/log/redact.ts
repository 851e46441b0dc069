import { ownSecrets } from './own-secrets';

/** The replacement of a secret. */
export const redactedMark = '[REDACTED]';

/** Shorter values would shred ordinary text ("1", "true", "main") and are no secrets. */
const shortestSecret = 6;

/**
 * Shapes of credentials that are worth hiding wherever they come from: all that secretlint's recommended rules find
 * (docs/develop/decisions/secret-shapes.md), and more. Each is linear in the length of the text.
 */
const tokenShapes: readonly RegExp[] = [
  /\bgh[oprsu]_[A-Za-z0-9]{36,255}/g,
  /\bgithub_pat_[A-Za-z0-9_]{22,255}/g,
  /\bglpat-[A-Za-z0-9_-]{20,64}/g,
  /\bsk-[A-Za-z0-9_-]{20,255}/g,
  /\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,255}/g,
  /\bA(?:3T[A-Z0-9]|KIA|GPA|IDA|ROA|IPA|NPA|NVA|SIA)[0-9A-Z]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{35}/g,
  /\bnpm_[A-Za-z0-9_]{36}/g,
  /(?<![A-Za-z])SG\.[\w-]{16,128}\.[\w-]{16,255}/g,
  /\bshp(?:pa|ca|at|ss)_[A-Za-z0-9]{32,64}/g,
  /\blin_api_[A-Za-z0-9_]{32,128}/g,
  /\bops_ey[A-Za-z0-9+/=]{100,1280}/g,
  // Runboard's own: callback secrets, and keys that follow the advice of the documentation.
  /\brb[a-z]{1,6}_[A-Za-z0-9_-]{32,255}/g,
  /\beyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{2,4096}\.[A-Za-z0-9_-]{8,1024}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
];

/** Credentials that are recognised by the text before them; that part stays readable. */
const labelledShapes: readonly RegExp[] = [
  /(\bBearer\s{1,4})[A-Za-z0-9._~+/=-]{16,}/gi,
  /(\bhttps:\/\/hooks\.slack\.com\/services\/)[a-z0-9/]{8,255}/gi,
  // A token as the user, where the password only marks it as one.
  /(\bhttps?:\/\/)[^\s/:@]{1,256}(?=:x-oauth-basic@)/gi,
  /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)/gi,
  // Also at the end of a longer name: `DB_PASSWORD`, `AWS_SECRET_ACCESS_KEY`.
  /((?<![a-z0-9])(?:password|passwd|(?:aws)?secret(?:[_-]?access[_-]?key)?|api[_-]?key|(?:access|auth|refresh)[_-]?token)["']?\s{0,4}(?:=>|[=:])\s{0,4}["']?)[^\s"',;]{8,}/gi,
];

/** What every shape has in it: most text has none of them, and is not searched for each shape. */
const tokenPart =
  /gh[oprsu]_|github_pat_|glpat-|sk-|xox|xapp-|A(?:3T|KIA|GPA|IDA|ROA|IPA|NPA|NVA|SIA)|AIza|npm_|SG\.|shp[pcas]|lin_api_|ops_ey|rb[a-z]{1,6}_|eyJ|-----BEGIN/;
const labelledPart = /bearer|:\/\/|passw|secret|key|token/i;

/** Names of fields whose text is secret whatever it looks like. */
const secretName =
  /^(?:password|passwd|passphrase|secret|token|api[_-]?key|authorization|cookie|credentials?|private[_-]?key|client[_-]?secret|(?:access|auth|refresh)[_-]?token)$/i;

export const isSecretName = (name: string): boolean => secretName.test(name);

/** Returns the text with every secret replaced by `[REDACTED]`; the same string when there was none. */
export type Redactor = (text: string) => string;

/**
 * Builds a redactor for `secrets`, those of this process, and the common shapes of tokens.
 *
 * @param secrets values to hide wherever they occur; a value of several lines is hidden line by line, one shorter than
 *   six characters not at all
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  let own = ownSecrets();
  let values = hiddenValues([...secrets, ...own]);
  return (text) => {
    if (text.length < shortestSecret) {
      return text;
    }
    if (own !== ownSecrets()) {
      own = ownSecrets();
      values = hiddenValues([...secrets, ...own]);
    }
    let clean = text;
    for (const value of values) {
      clean = clean.replaceAll(value, redactedMark);
    }
    if (tokenPart.test(clean)) {
      for (const shape of tokenShapes) {
        clean = clean.replace(shape, redactedMark);
      }
    }
    if (labelledPart.test(clean)) {
      for (const shape of labelledShapes) {
        clean = clean.replace(shape, `$1${redactedMark}`);
      }
    }
    return clean;
  };
}

const hiddenValues = (secrets: readonly string[]): string[] =>
  [...new Set(secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)]))]
    .filter((value) => value.trim().length >= shortestSecret)
    // The longest first: a value that contains another one is hidden whole.
    .sort((a, b) => b.length - a.length);

const keyBegins = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;
const keyEnds = /-----END [A-Z ]{0,40}PRIVATE KEY-----/;
/** A line in the middle of a key: its text, or one of the headers of an old one. */
const keyGoesOn = /^(?:[A-Za-z0-9+/=\s]*|(?:Proc-Type|DEK-Info|Comment): .*)$/;

/**
 * A redactor for the lines of one stream, in order: the text between the first and the last line of a private key has no shape
 * by itself.
 */
export function createLineRedactor(redact: Redactor): Redactor {
  let inKey = false;
  return (line) => {
    if (inKey) {
      const end = keyEnds.exec(line);
      if (!end && keyGoesOn.test(line)) {
        return redactedMark;
      }
      inKey = false;
      if (end) {
        return redactedMark + redact(line.slice(end.index + end[0].length));
      }
    }
    const last = line.slice(Math.max(0, line.lastIndexOf('-----BEGIN ')));
    inKey = keyBegins.test(last) && !keyEnds.test(last);
    return redact(line);
  };
}

/**
 * Whether a part of a text has the shape of a secret that is not hidden.
 *
 * @param part.atStart whether the text begins here: elsewhere a shape at the very beginning may be the rest of a word
 * @param part.atEnd likewise for its end
 */
export function hasSecretShape(text: string, part: { atStart: boolean; atEnd: boolean }): boolean {
  const isWhole = (from: number, to: number) => (from > 0 || part.atStart) && (to < text.length || part.atEnd);
  const stands = (shape: RegExp, hidden: (label: string) => string) =>
    [...text.matchAll(shape)].some(
      ({ 0: match, 1: label = '', index }) => match !== hidden(label) && isWhole(index, index + match.length),
    );
  return (
    tokenShapes.some((shape) => stands(shape, () => redactedMark)) ||
    labelledShapes.some((shape) => stands(shape, (label) => label + redactedMark))
  );
}
