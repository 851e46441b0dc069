import { redactedMark } from './redact';

/** The parents of users' home directories; what follows is the name of a user. */
const homes = /((?:\/(?:home|Users)|\b[A-Za-z]:[\\/]+Users)[\\/]+)(?!\[REDACTED\])[^\\/\s"'`:;,<>|]+/g;

/** The text without the names of people in the paths of their home directories. Linear in the length of the text. */
export const redactUserPaths = (text: string): string => text.replace(homes, `$1${redactedMark}`);
