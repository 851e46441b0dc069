import { inChildSpan, SpanKind } from '../../../platform/tracing/spans';
import type { Database } from '../collection';
import { interceptedDatabase } from './intercepted-database';

const systems = { sqlite: 'sqlite', mongo: 'mongodb' } as const;

/** The same database, with a span for each operation, by OpenTelemetry's conventions for databases. No value is in it. */
export const tracedDatabase = (database: Database): Database =>
  interceptedDatabase(database, ({ name, method }, work) =>
    inChildSpan(
      {
        name: `${method} ${name}`,
        kind: SpanKind.CLIENT,
        attributes: {
          'db.system.name': systems[database.kind],
          'db.operation.name': method,
          'db.collection.name': name,
        },
      },
      work,
    ),
  );
