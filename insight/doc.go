// Package insight explains a study.
package insight
