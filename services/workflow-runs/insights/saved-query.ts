import { z } from 'zod';
import { text } from '../http/fields';
import { tableNames } from './tables';

const sql = text(20_000);

export const savedQueryInput = z.strictObject({ name: text(200), sql });
export type SavedQueryInput = z.infer<typeof savedQueryInput>;

export const savedQuery = z
  .object({ id: z.string(), name: z.string(), sql: z.string(), created_at: z.string(), updated_at: z.string() })
  .meta({ id: 'SavedQuery' });
export type SavedQuery = z.infer<typeof savedQuery>;

export const execution = z.strictObject({ sql });

export const executionResult = z
  .object({
    columns: z.array(z.string()),
    rows: z.array(z.array(z.union([z.string(), z.number(), z.boolean(), z.null()]))),
    elapsed: z.number().meta({ description: 'Seconds.' }),
    row_count: z.number().int(),
    left_out: z
      .array(z.enum(tableNames))
      .optional()
      .meta({ description: 'Tables of which older rows were not loaded.' }),
  })
  .meta({ id: 'QueryResult' });

export const historyEntry = z
  .object({
    id: z.string(),
    sql: z.string(),
    timestamp: z.string(),
    elapsed: z.number(),
    row_count: z.number().int(),
  })
  .meta({ id: 'QueryHistoryEntry' });
export type HistoryEntry = z.infer<typeof historyEntry>;
