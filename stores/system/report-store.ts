import type { Report, ReportBrand } from '../../contracts/system/report';
import type { Page, PageRequest } from '../../platform/lists/page';
import type { Database, Stored } from '../port/collection';
import { createConfiguredRecords } from '../port/configured-records';
import { StaleRevisionError } from '../port/errors';
import { findPage } from '../port/find-page';

type ReportRecord = Stored & Omit<Report, 'id'>;

/** The page of a report, beside it so that a list does not read the pages. */
interface PageRecord extends Stored {
  html: string;
  generatedAt: string;
}

/** How long reports are retained, in days. */
export const reportRetentionDays = 365;
/** More reports than this are refused until one is deleted or expires. */
export const maxReports = 1_000;

const brandId = 'brand';
const present = ({ _id, ...report }: ReportRecord): Report => ({ id: _id, ...report });

/** Callers know a brand without an id and moments. */
function withBrandAlone({ collection, id, expectedRevision, current }: StaleRevisionError): StaleRevisionError {
  const { revision, shown } = current;
  const { name, color, footer } = (shown ?? {}) as Partial<ReportBrand>;
  const brand = shown === null ? null : { name, color, footer, revision };
  return new StaleRevisionError(collection, id, { expectedRevision, current: { revision, shown: brand } });
}

/** Reports that were generated, and the brand that new ones have (supplement 10.13). */
export async function createReportStore(db: Database) {
  const newest = { generatedAt: -1, _id: -1 } as const;
  const expire = { field: 'generatedAt', afterSeconds: reportRetentionDays * 86_400 };
  const reports = await db.collection<ReportRecord>({ name: 'reports', indexes: [{ keys: newest }], expire });
  const pages = await db.collection<PageRecord>({ name: 'report-pages', expire });
  const brands = await createConfiguredRecords<ReportBrand>(db, 'report-brands');

  return {
    brand: () => brands.get(brandId),
    /** @throws StaleRevisionError with the brand as callers know it when it is at another revision than expected */
    setBrand: (brand: ReportBrand, expectedRevision?: number) =>
      brands.put(brandId, brand, expectedRevision).catch((error: unknown) => {
        throw error instanceof StaleRevisionError ? withBrandAlone(error) : error;
      }),

    /** The page comes first: a report that is listed has one. */
    async add({ id, ...report }: Report, html: string): Promise<void> {
      await pages.insert({ _id: id, html, generatedAt: report.generatedAt });
      await reports.insert({ _id: id, ...report });
    },

    count: (): Promise<number> => reports.count({ generatedAt: { $gt: '' } }),

    async get(id: string): Promise<Report | undefined> {
      const record = await reports.get(id);
      return record && present(record);
    },

    page: async (id: string): Promise<string | undefined> => (await pages.get(id))?.html,

    /** The newest first. */
    async list(part: PageRequest): Promise<Page<Report>> {
      const filter = { generatedAt: { $gt: '' } };
      return (await findPage(reports, { filter, order: { key: 'generatedAt', direction: -1 } }, part)).map(present);
    },

    /** The report goes first: what is listed has its page. @returns whether there was one */
    async remove(id: string): Promise<boolean> {
      const removed = await reports.deleteMany({ _id: id });
      await pages.deleteMany({ _id: id });
      return removed > 0;
    },
  };
}
