package dashboard

import (
	"net/http"
	"strings"
)

// cookieName is the name of the cookie with the session.
const cookieName = "bo_session"

// maxLogin bounds the bytes of a form.
const maxLogin = 8 << 10

// signIn is the data of the form for a token.
type signIn struct {
	To    string // page to open afterwards
	Error string
}

func (d *Dashboard) loginPage(w http.ResponseWriter, r *http.Request, to, fault string) error {
	return d.render(w, r, http.StatusUnauthorized, "login", frame{Title: "Sign in"}, signIn{To: to, Error: fault})
}

// login begins a session with the token of a form.
func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form cannot be read", http.StatusBadRequest)
		return nil
	}
	to := ownPath(r.PostForm.Get("to"))
	if d.Sessions == nil {
		http.Redirect(w, r, d.at(to), http.StatusSeeOther)
		return nil
	}
	session, err := d.Sessions.Begin(strings.TrimSpace(r.PostForm.Get("token")))
	if err != nil {
		return d.loginPage(w, r, to, sentence(err))
	}
	d.setCookie(w, r, session, 0)
	http.Redirect(w, r, d.at(to), http.StatusSeeOther)
	return nil
}

// sentence returns the text of an error as a sentence.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// logout removes the session from the browser.
func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) error {
	d.setCookie(w, r, "", -1)
	http.Redirect(w, r, d.at("/"), http.StatusSeeOther)
	return nil
}

func (d *Dashboard) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: d.at("/"), MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	})
}

// ownPath returns the path of a page of the dashboard, and / for any other text.
func ownPath(to string) string {
	rest, ok := strings.CutPrefix(to, "/studies/")
	if !ok || strings.ContainsAny(rest, "\\\r\n\t") {
		return "/"
	}
	return "/studies/" + rest
}
