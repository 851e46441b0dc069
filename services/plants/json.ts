import { isInteger, parse, stringify } from 'lossless-json';

/** A number of a JSON text: an integer as a bigint, so that 64 bits survive; anything else as a number. */
const exactNumber = (text: string): bigint | number => (isInteger(text) ? BigInt(text) : Number(text));

/** Reads JSON without losing digits. @throws SyntaxError */
export const parseJson = (text: string): unknown => parse(text, undefined, exactNumber);

/** Writes JSON; bigints become plain numbers. */
export const writeJson = (value: unknown): string => stringify(value) ?? 'null';
