import { z } from 'zod';
import { text, timestamp } from '../common';
import { listPage } from '../query';

export const reportId = z.string().regex(/^report_[A-Za-z0-9]{8,32}$/, 'must look like report_ab12cd34');
export const reportTemplate = z.enum(['audit', 'summary', 'analysis', 'standup', 'custom']);
export type ReportTemplate = z.infer<typeof reportTemplate>;

const brandFields = {
  /** Above the title. */
  name: text(100, 1),
  /** Of headings and links, `#1f4e79`. */
  color: z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour like #1f4e79'),
  /** Below the report. */
  footer: text(500),
};
export const reportBrand = z.strictObject(brandFields).meta({ id: 'ReportBrand' });
export type ReportBrand = z.infer<typeof reportBrand>;

/** Revision 0: the brand that there is before one is set. */
export const storedBrand = z
  .object({ ...brandFields, revision: z.number().int().min(0) })
  .meta({ id: 'StoredReportBrand' });
export const brandWrite = reportBrand
  .extend({ expectedRevision: z.number().int().min(0).optional() })
  .meta({ id: 'ReportBrandWrite' });

export const reportTemplateInfo = z
  .object({ id: reportTemplate, label: z.string(), includeToc: z.boolean(), sections: z.array(z.string()) })
  .meta({ id: 'ReportTemplate' });

const metadata = z
  .record(text(64, 1), text(500))
  .refine((fields) => Object.keys(fields).length <= 20, 'at most 20 fields');

export const reportGenerate = z
  .strictObject({
    title: text(200, 1),
    subtitle: text(300).optional(),
    template: reportTemplate,
    /** Markdown. */
    content: text(200_000, 1),
    /** What of the brand is different in this report. */
    brand: reportBrand.partial().optional(),
    /** As the template has it when absent. */
    includeToc: z.boolean().optional(),
    author: text(200, 1).optional(),
    metadata: metadata.optional(),
  })
  .meta({ id: 'ReportGenerate' });
export type ReportGenerate = z.infer<typeof reportGenerate>;

export const report = z
  .object({
    id: reportId,
    title: z.string(),
    subtitle: z.string().optional(),
    template: reportTemplate,
    /** Of the HTML, in bytes. */
    size: z.number().int().min(0),
    generatedAt: timestamp,
    generatedBy: z.string(),
    author: z.string().optional(),
    brand: reportBrand,
    includeToc: z.boolean(),
    metadata: metadata.optional(),
  })
  .meta({ id: 'Report' });
export type Report = z.infer<typeof report>;

export const reportQuery = z.strictObject(listPage(50, 200));
