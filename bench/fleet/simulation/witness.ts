import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A moment in the life of an attempt: its agent started or ended, or its end was recorded. */
export interface Moment {
  what: 'started' | 'ended' | 'recorded';
  attemptId: string;
  taskId: string;
  hostId: string | null;
  /** Milliseconds since 1970. */
  at: number;
}

/** A file of moments that any process may add to, and that outlives those that are killed. */
export function openWitness(directory: string) {
  const file = join(directory, 'witness');
  return {
    /** One short write each: the lines of processes at the same time stay whole. */
    note(moment: Omit<Moment, 'at'>): void {
      appendFileSync(file, `${JSON.stringify({ ...moment, at: Date.now() })}\n`);
    },

    moments(): Moment[] {
      const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
      // The last line may still be written.
      const whole = text.slice(0, text.lastIndexOf('\n') + 1);
      return whole.split('\n').filter(Boolean).map(parse);
    },
  };
}

const parse = (line: string): Moment => JSON.parse(line) as Moment;
