import { hash, verify } from '@node-rs/argon2';
import { createTurns } from '../operations/turns';

/** Argon2id with the memory and passes that OWASP recommends for one lane: about 20 ms and 19 MiB for each password. */
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Passwords that are worked on at once, and how many more may wait: guesses cannot take the machine's memory or its time. */
const turns = createTurns({ running: 2, waiting: 16, what: 'passwords to check' });

/** One way to write the same password, whatever keyboard and system it was typed with. */
const normal = (password: string): string => password.normalize('NFKC');

/** @throws AppError 429 when too many passwords wait to be worked on */
export const hashPassword = (password: string): Promise<string> => turns.take(() => hash(normal(password), cost));

/**
 * Whether a password is the one that was hashed.
 *
 * @throws AppError 429 when too many passwords wait to be worked on
 */
export const isPassword = (hashed: string, password: string): Promise<boolean> =>
  turns.take(() => verify(hashed, normal(password)));
