/** What proves that a message was made by a process that has the key: it is sent with the message. */
export interface MessageProof {
  /** What the message is for, e.g. `decide`. */
  purpose: string;
  /** What it is about, e.g. the id of its workflow. */
  subject: string;
  /** Who it is from. */
  actor: string;
  /** SHA-256 of the canonical JSON of the message without its proof. */
  digest: string;
  /** RFC 3339. */
  issuedAt: string;
  expiresAt: string;
  /** HMAC-SHA256 over the canonical JSON of everything else in the proof, as base64url. */
  mac: string;
}

/** The failure type that a message is refused with which does not prove who it is from. */
export const messageUnproven = 'MESSAGE_UNPROVEN';

const texts = ['purpose', 'subject', 'actor', 'digest', 'mac'] as const;
const times = ['issuedAt', 'expiresAt'] as const;

/** Whether a value has the shape of a proof; workflow code, which has no key, can know no more. */
export function isMessageProof(value: unknown): value is MessageProof {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const fields = value as Record<string, unknown>;
  const isText = (name: string) => typeof fields[name] === 'string' && fields[name].length <= 1_000;
  return (
    texts.every((name) => isText(name) && fields[name] !== '') &&
    times.every((name) => isText(name) && Number.isFinite(Date.parse(fields[name] as string)))
  );
}
