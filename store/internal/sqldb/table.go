package sqldb

import (
	"fmt"
	"strings"
)

// table writes rows of a table with one statement.
type table struct {
	name    string
	columns []column
	key     int // number of columns at the beginning whose conflict replaces a row; 0 is none
}

// column is a column of a table. Text that is null is the empty text outside of the database.
type column struct {
	name string
	kind kind
	null bool
}

type kind int

const (
	whole kind = iota
	real
	text
)

// newTable reads columns such as "study whole, name text, message text null".
func newTable(name string, key int, columns string) *table {
	t := &table{name: name, key: key}
	for _, c := range strings.Split(columns, ",") {
		words := strings.Fields(c)
		k, ok := map[string]kind{"whole": whole, "real": real, "text": text}[words[1]]
		if !ok {
			panic("sqldb: column " + c)
		}
		t.columns = append(t.columns, column{words[0], k, len(words) > 2})
	}
	return t
}

func (t *table) names() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// list returns the columns from the given one on as they are selected.
func (t *table) list(from int) string {
	names := make([]string, 0, len(t.columns))
	for _, c := range t.columns[from:] {
		name := c.name
		if c.null {
			name = "COALESCE(" + name + ", '')"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// insert returns the text of the statement. With arrays, its arguments are an array for each
// column; otherwise it has a placeholder for each column of one row.
func (t *table) insert(arrays bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (%s) ", t.name, t.names())
	values, lists := make([]string, len(t.columns)), make([]string, len(t.columns))
	for i, c := range t.columns {
		values[i] = "?"
		if arrays {
			values[i] = c.name
			lists[i] = "?::" + [...]string{whole: "BIGINT[]", real: "DOUBLE PRECISION[]", text: "TEXT[]"}[c.kind]
		}
		if c.null {
			values[i] = "NULLIF(" + values[i] + ", '')"
		}
	}
	if arrays {
		fmt.Fprintf(&b, "SELECT %s FROM unnest(%s) AS rows (%s)", strings.Join(values, ", "), strings.Join(lists, ", "), t.names())
	} else {
		fmt.Fprintf(&b, "VALUES (%s)", strings.Join(values, ", "))
	}
	if t.key == 0 {
		return b.String()
	}
	keys, set := make([]string, t.key), make([]string, 0, len(t.columns))
	for i, c := range t.columns {
		if i < t.key {
			keys[i] = c.name
		} else {
			set = append(set, c.name+" = excluded."+c.name)
		}
	}
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO UPDATE SET %s", strings.Join(keys, ", "), strings.Join(set, ", "))
	return b.String()
}

// most is the largest number of rows of one statement. PostgreSQL bounds the time in which one statement arrives.
const most = 500

// put queues the insertion of n rows. The function returns the values of a row, in the order of
// the columns: int, int64, float64 or string.
func (t *tx) put(into *table, n int, row func(i int) []any) {
	for from := 0; from < n; from += most {
		t.putSome(into, min(most, n-from), func(i int) []any { return row(from + i) })
	}
}

func (t *tx) putSome(into *table, n int, row func(i int) []any) {
	columns := make([]any, len(into.columns))
	for j, c := range into.columns {
		switch c.kind {
		case whole:
			columns[j] = make([]int64, n)
		case real:
			columns[j] = make([]float64, n)
		case text:
			columns[j] = make([]string, n)
		}
	}
	for i := range n {
		for j, v := range row(i) {
			switch v := v.(type) {
			case int:
				columns[j].([]int64)[i] = int64(v)
			case int64:
				columns[j].([]int64)[i] = v
			case float64:
				columns[j].([]float64)[i] = v
			case string:
				columns[j].([]string)[i] = v
			default:
				panic(fmt.Sprintf("sqldb: column %s gets a %T", into.columns[j].name, v))
			}
		}
	}
	t.queue = append(t.queue, Statement{Text: t.text(into.insert(t.d.Numbered)), Args: columns, Rows: n})
}
